"""Every column that is stored encrypted. What is encrypted anew is added here, or its key can never be removed."""

from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session

from intents.models import Confirmation
from wire.models import IdempotentAnswer
from wire.redelivery.reencryption import EncryptedColumn
from workspaces.models import SigningSecret

ENCRYPTED_COLUMNS = {
    "signing secrets": EncryptedColumn(SigningSecret, "ciphertext"),
    "stored answers": EncryptedColumn(IdempotentAnswer, "body", {"encrypted": True}),
    "pending confirmations": EncryptedColumn(Confirmation, "encrypted_args_hash"),
    "second factors": EncryptedColumn(Authenticator, "data"),
    "sessions": EncryptedColumn(Session, "session_data"),
}
