"""Outcome keys that look alike to a reader."""

from django.db.models import F, Func

# Alike keys have one form, which ignores case, white space, `-` and `_`. It is indexed: another form needs a migration.
KEY_FORM_SQL = """translate(lower(%(expressions)s COLLATE "default"), U&'-_ \\0009\\000A\\000D\\00A0', '')"""
KEY_FORM = Func(F("outcome_key"), template=KEY_FORM_SQL)
