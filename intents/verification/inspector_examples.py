"""Examples for the empty inspector: a request that passes every check, and one whose body was changed afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from affidavit import mint_intent
from workspaces.models import Environment
from workspaces.secrets.decrypt import load_newest_secret

SIGNED_BODY: Final = '{"bookId": 12, "quantity": 1}'
BODIES: Mapping[str, str] = {"passes": SIGNED_BODY, "fails": '{"bookId": 12, "quantity": 3}'}
AGE: Final = timedelta(hours=1)
LIFETIME_SECONDS: Final = 60


def build_example(environment: Environment, name: str, *, now: datetime) -> Mapping[str, str]:
    """Return the inspector's form for an example, one of BODIES. Nothing is stored.

    The header is signed with a secret of the workspace, so it must not be usable: its intent was issued an hour before
    `now` and has expired. The form names a time of receipt at which it was valid.
    """
    issued_at = (now - AGE).replace(microsecond=0)
    intent = mint_intent(
        load_newest_secret(environment.workspace),
        tenant_id=environment.workspace_id,
        sub="user_of_the_example",
        aud=environment.audience,
        operation="POST /cart/lines",
        args={"bookId": 12, "quantity": 1},
        lifetime=LIFETIME_SECONDS,
        now=issued_at.timestamp(),
    )
    received_at = issued_at + timedelta(seconds=2)
    return {
        "header": intent.header,
        "method": "POST",
        "path": "/cart/lines",
        "content_type": "application/json",
        "body": BODIES[name],
        "received_at": f"{received_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
