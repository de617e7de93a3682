"""Adapters for web frameworks: `django`, `wsgi` (Flask …), `asgi` (Starlette, FastAPI …)."""
