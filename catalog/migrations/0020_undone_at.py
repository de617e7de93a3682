"""Call the end of a manual override by the glossary's word. The column keeps its name."""

from django.db import migrations

MODELS = ("baselinereset", "hintrule", "maprule", "redactionrule", "templaterule")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0019_what_is_no_longer_seen")]

    operations = [migrations.RenameField(model, "reverted_at", "undone_at") for model in MODELS]
