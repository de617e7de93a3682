"""Adapters that protect an app with signed intents: `django`, `wsgi` (Flask …), `asgi` (Starlette, FastAPI …)."""
