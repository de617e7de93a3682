"""The models and fields get their plain names; tables and columns keep theirs, so no data is touched."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0004_map_rules_and_node_starts'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel('FreshStart', 'BaselineReset'),
                migrations.AlterModelTable('BaselineReset', 'catalog_freshstart'),
                migrations.RemoveIndex('WitnessReport', 'unfolded_reports'),
                migrations.RemoveIndex('WitnessReport', 'parked_reports'),
                migrations.RenameField('WitnessReport', 'parked_at', 'dead_lettered_at'),
                migrations.RenameField('Operation', 'own', 'reported_facts'),
                migrations.RenameField('OperationPart', 'silence', 'absences'),
                *(
                    migrations.RenameField(model, 'taken_back_at', 'reverted_at')
                    for model in ('BaselineReset', 'MapRule', 'RedactionRule', 'TemplateRule')
                ),
                migrations.AlterField(
                    model_name='baselinereset',
                    name='in_reach',
                    field=models.BooleanField(default=True, help_text='Whether those rules still lead there.'),
                ),
                migrations.AlterField(
                    model_name='baselinereset',
                    name='operation',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='baseline_resets', to='catalog.operation'),
                ),
                migrations.AlterField(
                    model_name='baselinereset',
                    name='reverted_at',
                    field=models.DateTimeField(db_column='taken_back_at', null=True),
                ),
                migrations.AlterField(
                    model_name='baselinereset',
                    name='through',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='caused', to='catalog.baselinereset'),
                ),
                migrations.AlterField(
                    model_name='maprule',
                    name='reverted_at',
                    field=models.DateTimeField(db_column='taken_back_at', null=True),
                ),
                migrations.AlterField(
                    model_name='operation',
                    name='epoch',
                    field=models.PositiveIntegerField(default=0, help_text='Number of baseline resets; new evidence goes into this epoch.'),
                ),
                migrations.AlterField(
                    model_name='operation',
                    name='reported_facts',
                    field=models.JSONField(db_column='own', help_text='The counts as reported, where a rule makes them differ from the above: catalog.evidence.', null=True),
                ),
                migrations.AlterField(
                    model_name='operationpart',
                    name='absences',
                    field=models.JSONField(db_column='silence', default=dict, help_text='The members of catalog.drift.presence.no_longer_seen_rule.Absence, by pointer.'),
                ),
                migrations.AlterField(
                    model_name='operationversion',
                    name='by_hand',
                    field=models.BooleanField(default=False, help_text='A manual override made it, not an observation.'),
                ),
                migrations.AlterField(
                    model_name='redactionrule',
                    name='reverted_at',
                    field=models.DateTimeField(db_column='taken_back_at', null=True),
                ),
                migrations.AlterField(
                    model_name='templaterule',
                    name='reverted_at',
                    field=models.DateTimeField(db_column='taken_back_at', null=True),
                ),
                migrations.AlterField(
                    model_name='witnessreport',
                    name='dead_lettered_at',
                    field=models.DateTimeField(db_column='parked_at', null=True),
                ),
                migrations.AddIndex(
                    model_name='witnessreport',
                    index=models.Index(condition=models.Q(('dead_lettered_at', None), ('folded_at', None)), fields=['environment', 'id'], name='unfolded_reports'),
                ),
                migrations.AddIndex(
                    model_name='witnessreport',
                    index=models.Index(condition=models.Q(('dead_lettered_at__isnull', False)), fields=['environment', 'dead_lettered_at'], name='parked_reports'),
                ),
            ],
        ),
    ]
