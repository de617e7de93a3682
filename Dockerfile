# The image of the hub. It has no database: compose.yaml names the services that the hub needs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /affidavit
COPY requirements/redis.txt requirements/
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir --require-hashes -r requirements/redis.txt
COPY . .
ENV PYTHONPATH=/affidavit/sdk/src
RUN HUB_DATA_DIR=/build .venv/bin/python manage.py build_static

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --no-create-home affidavit && install --directory --owner=10001 --mode=0700 /data
# Root owns the code, so that the hub cannot change it.
COPY --from=build /affidavit /affidavit
WORKDIR /affidavit
USER 10001
ENV PYTHONPATH=/affidavit/sdk/src PYTHONDONTWRITEBYTECODE=1 HUB_HOST=0.0.0.0 HUB_DATA_DIR=/data
EXPOSE 8000
# The health check of the web server. It asks for localhost, which ALLOWED_HOSTS must contain.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD [".venv/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:8000/healthz', timeout=4)"]
ENTRYPOINT ["/affidavit/.venv/bin/python", "manage.py"]
CMD ["run", "web"]
