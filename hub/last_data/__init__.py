"""When the last data of each environment came, and whether reports could not be processed."""
