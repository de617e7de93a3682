"""How long a workspace keeps what, and deletions: of a conversation, of a user, of the workspace."""
