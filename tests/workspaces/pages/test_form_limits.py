"""The fields of forms take as many characters as the code that reads them."""

import re

from django.utils import timezone

from alerts.addresses.webhook_address import MAX_LENGTH
from alerts.models import MAX_NAME as MAX_TARGET_NAME
from alerts.setup.targets import create_target
from intents.verification.forms import RequestForm
from workspaces.annotations.annotate import AnnotationText, add_by_hand
from workspaces.models import Annotation, ApiKey, Environment, Workspace
from workspaces.people.invitations.invitation_form import MAX_EMAIL


def test_every_field_takes_as_many_characters_as_its_form(browser_client, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    annotation = add_by_hand(production, AnnotationText("Deploy", ""), at=now, everywhere=False, actor="ada", now=now)
    create_target(workspace.workspace, "slack", "chat", "https://93.184.216.34/x", actor="ada", now=now)
    target = workspace.workspace.alert_targets.get()
    environment = {"name": Environment.MAX_NAME, "label": Environment.MAX_LABEL, "audience": Environment.MAX_AUDIENCE}
    request = {name: RequestForm.base_fields[name].max_length for name in ("method", "path")}
    annotation_limits = {"text": Annotation.MAX_TEXT, "url": Annotation.MAX_URL}
    target_limits = {"name": MAX_TARGET_NAME, "address": MAX_LENGTH}
    for page, limits in (
        ("/workspaces/new", {"name": Workspace.MAX_NAME}),
        ("members", {"email": MAX_EMAIL}),
        ("keys", {"name": ApiKey.MAX_NAME}),
        ("environments?change=production", environment),
        ("annotations", annotation_limits),
        (f"annotations?change={annotation.pk}", annotation_limits),
        ("alerts", target_limits),
        (f"alerts?target={target.pk}", target_limits),
        ("inspector", request),
    ):
        html = browser_client.get(page if page[0] == "/" else f"/w/lumen-books/production/{page}").content.decode()
        main = html.partition("<main")[2]
        fields = [(_read_attribute(tag, "name"), tag) for tag in re.findall(r"<(?:input|textarea)\b[^>]*>", main)]
        found = {
            (name, _read_attribute(tag, "maxlength")) for name, tag in fields if name in limits and "hidden" not in tag
        }
        assert found == {(name, str(limit)) for name, limit in limits.items()}, page


def _read_attribute(tag: str, name: str) -> str:
    match = re.search(rf'\b{name}="([^"]*)"', tag)
    return match[1] if match else ""
