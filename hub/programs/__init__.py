"""The programs that processes of a hub run: the web server, the worker, beat."""
