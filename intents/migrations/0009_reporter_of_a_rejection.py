"""Rejections name the key that reported them; older ones do not."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("intents", "0008_rejections_of_a_tool_call"), ("workspaces", "0010_shared_links")]

    operations = [
        migrations.AddField(
            model_name="rejection",
            name="api_key",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="workspaces.apikey",
            ),
        ),
    ]
