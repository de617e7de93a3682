"""Send one message to one target: by mail, to a chat, or as a signed webhook."""

from __future__ import annotations

from datetime import datetime

from alerts.addresses.webhook_address import TargetRefused, parse_webhook_address
from alerts.delivery.answer import Answer
from alerts.delivery.http_post import RequestFailed, post
from alerts.delivery.messages import Message, build_body, build_slack_body
from alerts.delivery.retries import parse_retry_after
from alerts.delivery.send_mail import send_mail
from alerts.delivery.signature import SEPARATOR, sign
from alerts.models import Target
from wire.at_rest.encryption import decrypt

USER_AGENT = "Affidavit-Webhooks/1"


def send(target: Target, message: Message, message_id: str, *, now: datetime) -> Answer:
    """Make one attempt. It can take half a minute or more: call it outside of any transaction."""
    address = decrypt(bytes(target.encrypted_address)).decode()
    if target.kind == Target.EMAIL:
        return send_mail(address.split(","), message, message_id)
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    if target.kind == Target.SLACK:
        return _post(address, build_slack_body(message), headers, now=now)
    body, timestamp = build_body(message), int(now.timestamp())
    signature = sign(list_secrets(target, now=now), message_id, timestamp, body)
    headers |= {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signature}
    return _post(address, body, headers, now=now)


def list_secrets(target: Target, *, now: datetime) -> list[str]:
    """Return the secrets that sign, the latest first: after a rotation, the previous ones too for a while."""
    columns = [target.encrypted_secret]
    if target.previous_until is not None and now < target.previous_until:
        columns.append(target.encrypted_previous_secret)
    texts = [decrypt(bytes(column)).decode() for column in columns if column is not None]
    return [secret for text in texts for secret in text.split(SEPARATOR)]


def _post(address: str, body: bytes, headers: dict[str, str], *, now: datetime) -> Answer:
    try:
        code, retry_after = post(parse_webhook_address(address), body, headers)
    except (TargetRefused, RequestFailed) as error:
        return Answer(fault=str(error))
    if 200 <= code < 300:
        return Answer(code)
    fault = "redirects are not followed" if 300 <= code < 400 else f"answered {code}"
    return Answer(code, fault, parse_retry_after(retry_after, now=now))
