"""In the history of the sample, reports name their sender and have what the reporters of the SDK send."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from catalog.models import Operation, ReporterActivity
from hub.sample import workspace as sample
from hub.sample.history import History
from hub.sample.history_days import HISTORY_DAYS
from intents.models import Rejection
from intents.rejections.intents_of_rejections import find_intent
from tests.hub.sample.dates import find_wednesday_noon
from workspaces.models import ApiKey, SampleWorkspace, SecretUse

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(settings, tmp_path):
    """Play the first day of a sample. Return its workspace and the end of that day."""
    settings.HUB_DATA_DIR = tmp_path
    now = find_wednesday_noon()
    sample.create(now=now)
    History(json.loads((tmp_path / "sample.json").read_text()), now.timestamp()).play_day(0)
    return SampleWorkspace.objects.get().workspace, now - timedelta(days=HISTORY_DAYS - 1)


def test_each_rejection_of_the_history_was_reported_by_the_shop(played):
    workspace, _ = played
    rejections = Rejection.objects.filter(environment__workspace=workspace)
    assert {rejection.api_key.name for rejection in rejections.select_related("api_key")} == {"shop backend"}
    uses = SecretUse.objects.filter(environment__workspace=workspace)
    assert {(use.api_key.name, use.environment.name) for use in uses} == {
        ("shop backend", "production"), ("shop backend", "staging"),
    }  # fmt: skip


def test_each_expired_call_of_the_history_has_the_intent_that_expired(played):
    workspace, _ = played
    rejections = list(Rejection.objects.filter(environment__workspace=workspace, reason="expired"))
    assert rejections
    for rejection in rejections:
        intent = find_intent(rejection.environment, rejection)
        assert intent is not None
        assert intent.expires_at < rejection.occurred_at


def test_the_shop_reports_its_shapes_by_name(played):
    workspace, _ = played
    activity = ReporterActivity.objects.filter(environment__workspace=workspace)
    assert set(activity.values_list("reporter", flat=True)) == {"shop-backend"}


def test_each_key_was_used_on_the_last_day_that_was_played(played):
    """The fixture plays only the first of the 30 days."""
    workspace, day_end = played
    uses = workspace.api_keys.filter(kind=ApiKey.SECRET).values_list("last_used_at", flat=True)
    assert set(uses) == {day_end}


def test_every_answer_of_the_history_has_its_media_type(played):
    workspace, _ = played
    operations = Operation.objects.filter(environment__workspace=workspace)
    assert operations
    answers: set[str] = set()
    for operation in operations:
        statuses = {part: counts for part, counts in operation.media_types.items() if part != "request"}
        assert sum(sum(counts.values()) for counts in statuses.values()) == operation.observations
        refusals = set(statuses.pop("403", {}))
        assert refusals <= {"application/json", "application/problem+json"}
        answers |= {media_type for counts in statuses.values() for media_type in counts}
    assert answers == {"application/json"}  # an operation may have 403 only: all its calls of the day were rejected
    posts = [operation for operation in operations if operation.method == "POST"]
    assert {media_type for post in posts for media_type in post.media_types.get("request", {})} == {"application/json"}
