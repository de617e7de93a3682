"""Columns are encrypted again in small batches, and no batch is skipped."""

import pytest
from django.utils import timezone

from wire.at_rest.encryption import build_cipher, encrypt
from wire.at_rest.reencryption import EncryptedColumn, reencrypt_column
from workspaces.models import SigningSecret

pytestmark = pytest.mark.django_db
NEW = "n" * 50


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 500])
def test_every_row_of_every_batch_is_encrypted_again(settings, workspace, batch):
    for number in range(3):
        text = encrypt(f"secret {number}".encode())
        SigningSecret.objects.create(workspace=workspace.workspace, ciphertext=text, prefix=str(number))
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], NEW
    column = EncryptedColumn(SigningSecret, "ciphertext", {"created_at__lte": timezone.now()})
    result = reencrypt_column(column, batch=batch)
    assert (result.changed_count, result.unreadable_count) == (4, 0)
    for secret in SigningSecret.objects.all():
        build_cipher(NEW).decrypt(bytes(secret.ciphertext))
