from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial")]

    operations = [
        migrations.AddField("alert", "outage_from", models.DateTimeField(null=True)),
        migrations.AddField("alert", "outage_until", models.DateTimeField(null=True)),
    ]
