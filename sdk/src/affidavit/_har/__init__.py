"""HAR files as exchanges, read in bounded memory."""
