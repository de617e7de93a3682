"""For how long a workspace keeps its data, and the deletion of a conversation, of a user or of the workspace."""
