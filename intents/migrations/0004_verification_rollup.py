import django.db.models.deletion
from django.db import migrations, models

# No tally may change between the sum and the end of the migration.
FILL = """
LOCK TABLE intents_verificationtally IN SHARE MODE;
INSERT INTO intents_verificationrollup
       (environment_id, grain, version, starts_at, result, operation, shard, count, last_at)
SELECT environment_id, grain, label.version, starts_at, result, label.operation, 0, sum(count), max(last_at)
  FROM intents_verificationtally CROSS JOIN LATERAL (
         VALUES ('d', date_trunc('day', start, 'UTC'), version, operation),
                ('m', date_trunc('month', start, 'UTC'), version, operation),
                ('q', start, -1::smallint, ''),
                ('d', date_trunc('day', start, 'UTC'), -1::smallint, ''),
                ('m', date_trunc('month', start, 'UTC'), -1::smallint, '')
       ) AS label (grain, starts_at, version, operation)
 GROUP BY environment_id, grain, label.version, starts_at, result, label.operation
"""


class Migration(migrations.Migration):
    dependencies = [("intents", "0003_keyed_hashes"), ("workspaces", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="VerificationRollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        *("environment_id", "grain", "version", "starts_at", "result", "operation", "shard"),
                        blank=True, editable=False, primary_key=True, serialize=False,
                    ),
                ),
                ("grain", models.CharField(db_collation="C", help_text="q quarter hour, d day, m month", max_length=1)),
                ("version", models.SmallIntegerField()),
                ("starts_at", models.DateTimeField()),
                ("result", models.CharField(max_length=40)),
                ("operation", models.CharField(blank=True, max_length=255)),
                ("shard", models.SmallIntegerField()),
                ("count", models.BigIntegerField()),
                ("last_at", models.DateTimeField()),
                (
                    "environment",
                    models.ForeignKey(
                        db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE,
                        related_name="+", to="workspaces.environment",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
