"""Store conversations and outcome reports, with one or two statements for each batch."""
