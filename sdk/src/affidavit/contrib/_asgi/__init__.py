"""What the ASGI middlewares of `affidavit.contrib.asgi` are made of."""
