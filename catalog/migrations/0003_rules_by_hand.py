import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0002_versions_and_drift'),
        ('workspaces', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='freshstart',
            name='in_reach',
            field=models.BooleanField(default=True, help_text='Whether those rules lead there still.'),
        ),
        migrations.AddField(
            model_name='freshstart',
            name='newest_rule',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='freshstart',
            name='through',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reached', to='catalog.freshstart'),
        ),
        migrations.AddField(
            model_name='operation',
            name='own',
            field=models.JSONField(help_text='What was reported here, where it is not what is shown: catalog.sums.facts().', null=True),
        ),
        migrations.AddField(
            model_name='operation',
            name='shown_under',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shown_here', to='catalog.operation'),
        ),
        migrations.AddField(
            model_name='operationversion',
            name='by_hand',
            field=models.BooleanField(default=False, help_text='A decision by hand made it, no observation.'),
        ),
        migrations.CreateModel(
            name='RedactionRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('sensitive', 'sensitive'), ('drop', 'drop')], max_length=9)),
                ('name', models.CharField(max_length=100)),
                ('at', models.DateTimeField()),
                ('actor', models.CharField(max_length=150)),
                ('taken_back_at', models.DateTimeField(null=True)),
                ('environment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='redaction_rules', to='workspaces.environment')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='redaction_rules', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['workspace', 'id'], name='redaction_rules')],
            },
        ),
        migrations.CreateModel(
            name='TemplateRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('method', models.CharField(blank=True, max_length=32)),
                ('source', models.CharField(max_length=2000)),
                ('target', models.CharField(max_length=2000)),
                ('matching', models.BooleanField(default=False)),
                ('at', models.DateTimeField()),
                ('actor', models.CharField(max_length=150)),
                ('taken_back_at', models.DateTimeField(null=True)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='template_rules', to='workspaces.environment')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['environment', 'id'], name='template_rules')],
            },
        ),
    ]
