"""Every column that is stored encrypted.

Add every new encrypted column here; otherwise its old key can never be removed.
"""

from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session

from alerts.models import Target
from intents.models import Confirmation
from wire.at_rest.reencryption import EncryptedColumn
from wire.models import IdempotentAnswer
from workspaces.models import SigningSecret

ENCRYPTED_COLUMNS = {
    "signing secrets": EncryptedColumn(SigningSecret, "ciphertext"),
    "stored answers": EncryptedColumn(IdempotentAnswer, "body", {"encrypted": True}),
    "pending confirmations": EncryptedColumn(Confirmation, "encrypted_args_hash"),
    "addresses of alerts": EncryptedColumn(Target, "encrypted_address"),
    "secrets of webhooks": EncryptedColumn(Target, "encrypted_secret"),
    "previous secrets of webhooks": EncryptedColumn(Target, "encrypted_previous_secret"),
    "second factors": EncryptedColumn(Authenticator, "data"),
    "sessions": EncryptedColumn(Session, "session_data"),
}
