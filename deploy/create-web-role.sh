#!/bin/sh
# Create the database role of the web server. PostgreSQL's image runs this script once, for a new database.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$WEB_DATABASE_PASSWORD" --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
CREATE ROLE affidavit_web LOGIN PASSWORD :'password';
SQL
