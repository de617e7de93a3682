"""The process that `manage.py up` becomes: it keeps the others running, and loads neither Django nor Celery."""
