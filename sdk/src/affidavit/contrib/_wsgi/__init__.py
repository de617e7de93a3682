"""What the WSGI middlewares of `affidavit.contrib.wsgi` are made of."""
