"""Store conversations and outcome reports, with one statement for each batch."""
