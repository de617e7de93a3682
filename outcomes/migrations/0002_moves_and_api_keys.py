import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('outcomes', '0001_initial'),
        ('workspaces', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiKeyTally',
            fields=[
                ('pk', models.CompositePrimaryKey('environment_id', 'grain', 'api_key', 'starts_at', 'lane', blank=True, editable=False, primary_key=True, serialize=False)),
                ('grain', models.CharField(db_collation='C', help_text='q quarter hour, d day, m month', max_length=1)),
                ('api_key', models.BigIntegerField()),
                ('starts_at', models.DateTimeField()),
                ('lane', models.SmallIntegerField()),
                ('outcomes', models.BigIntegerField()),
                ('broken', models.BigIntegerField()),
                ('environment', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.environment')),
            ],
        ),
        migrations.CreateModel(
            name='Move',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('moved_at', models.DateTimeField()),
                ('moved_by', models.CharField(max_length=150)),
                ('outcomes', models.IntegerField(help_text='How many broken joins were moved.')),
                ('met', models.IntegerField(help_text='How many of them met an outcome that was there already.')),
                ('undone_at', models.DateTimeField(null=True)),
                ('undone_by', models.CharField(blank=True, max_length=150)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='moves_away', to='workspaces.environment')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='moves_here', to='workspaces.environment')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='MovedOutcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome_key', models.CharField(db_collation='C', max_length=128)),
                ('reports', models.BigIntegerField()),
                ('first_reported_at', models.DateTimeField()),
                ('last_reported_at', models.DateTimeField()),
                ('reported_by', models.BigIntegerField(null=True)),
                ('came_from', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='outcomes.conversation')),
                ('conversation', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='outcomes.conversation')),
                ('move', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='moved', to='outcomes.move')),
            ],
        ),
        migrations.AddField(
            model_name='outcome',
            name='moved_in',
            field=models.BigIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='outcome',
            name='own_first_reported_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='outcome',
            name='own_last_reported_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='outcome',
            name='own_reported_by',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name='outcome',
            name='reported_by',
            field=models.BigIntegerField(help_text='The API key that first reported it.', null=True),
        ),
        migrations.AddIndex(
            model_name='outcome',
            index=models.Index(fields=['environment', 'outcome_key', 'first_reported_at'], name='outcome_by_key_and_time'),
        ),
        migrations.AddIndex(
            model_name='tally',
            index=models.Index(models.F('environment'), models.Func(models.F('outcome_key'), template='translate(lower(%(expressions)s COLLATE "default"), U&\'-_ \\0009\\000A\\000D\\00A0\', \'\')'), condition=models.Q(('grain', 'm')), name='keys_by_form'),
        ),
        migrations.AddIndex(
            model_name='apikeytally',
            index=models.Index(fields=['environment', 'grain', 'starts_at'], name='api_key_tally_by_time'),
        ),
    ]
