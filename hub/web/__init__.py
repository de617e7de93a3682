"""What lies between the web server and Django: bodies are awaited, then Django runs in a thread."""
