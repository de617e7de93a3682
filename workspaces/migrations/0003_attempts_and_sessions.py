from django.db import migrations

# The table of Django's database cache, which counts sign-in attempts for all processes.
MAKE_ATTEMPTS = """
CREATE TABLE workspaces_attempts (
    cache_key varchar(255) PRIMARY KEY,
    value text NOT NULL,
    expires timestamp with time zone NOT NULL
);
CREATE INDEX workspaces_attempts_expires ON workspaces_attempts (expires);
"""


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0002_people_keys_and_limits"), ("sessions", "0001_initial")]

    operations = [
        migrations.RunSQL(MAKE_ATTEMPTS, "DROP TABLE workspaces_attempts"),
        # The table had session keys in the clear; now it has digests of them. So everybody has to sign in again.
        migrations.RunSQL("DELETE FROM django_session", migrations.RunSQL.noop),
    ]
