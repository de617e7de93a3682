"""The PostgreSQL server that a hub brings with it: its programs, and the server in a data directory."""
