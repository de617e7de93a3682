"""The processes of a hub on one machine: database, web server, worker."""
