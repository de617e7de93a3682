"""The options of the web server, and what lies between it and Django: bodies are awaited, then a thread runs Django."""
