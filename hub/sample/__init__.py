"""The sample workspace: its history and its live traffic."""
