import django.db.models.deletion
from django.db import migrations, models

FILL = """
INSERT INTO outcomes_outcomekey (environment_id, outcome_key)
SELECT DISTINCT environment_id, outcome_key FROM outcomes_tally WHERE grain = 'm' AND outcome_key <> ''
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outcomes', '0003_leading_keys'),
        ('workspaces', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='OutcomeKey',
            fields=[
                ('pk', models.CompositePrimaryKey('environment_id', 'outcome_key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('outcome_key', models.CharField(db_collation='C', max_length=128)),
                ('lowered', models.GeneratedField(db_persist=True, expression=models.Func(models.F('outcome_key'), template='lower(%(expressions)s COLLATE "default")'), output_field=models.TextField(db_collation='C'))),
                ('environment', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.environment')),
            ],
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
