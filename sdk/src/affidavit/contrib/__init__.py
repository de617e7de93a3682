"""Adapters for web frameworks: `django`, `fastapi`, `aiohttp`, `wsgi` (Flask …), `asgi` (Starlette …)."""
