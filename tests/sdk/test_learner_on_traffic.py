"""Path templates of whole APIs: an invented one of named resources, and recorded ones."""

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lessons import template
from named_api import calls

from affidavit._paths.learner import Learner

TRAFFIC = Path(__file__).parents[2].parent / "shared" / "traffic"


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "under data"])
@pytest.mark.parametrize("identity", ["name", "id", "courier_key", "displayLabel"])
def test_named_resources_get_their_true_templates_and_none_are_mixed(identity, wrapped):
    for seed in range(5):
        exact, mixed = scored([(call, call.template) for call in calls(seed, identity=identity, wrapped=wrapped)])
        assert exact >= 0.95
        assert mixed == 0


@pytest.mark.parametrize(
    ("name", "least_exact", "least_clustered"), [("datadog.har.gz", 0.98, 0.98), ("linode.har.gz", 0.995, 0.98)]
)
def test_recorded_traffic_gets_its_true_templates(name, least_exact, least_clustered):
    recorded = recorded_exchanges(name)
    exact, mixed = scored(recorded)
    assert exact >= least_exact
    assert mixed <= 0.005
    assert clustered(recorded) >= least_clustered


@pytest.mark.parametrize("name", ["datadog.har.gz", "linode.har.gz"])
def test_half_of_recorded_traffic_is_enough(name):
    recorded = recorded_exchanges(name)
    for side in (0, 1):
        exact, mixed = scored([pair for pair in recorded if sum(pair[0].recording.encode()) % 2 == side])
        assert exact >= 0.98
        assert mixed <= 0.005


class Recorded:
    def __init__(self, entry):
        self.method, self.status = entry["request"]["method"], entry["response"]["status"]
        self.path, self.recording = urlsplit(entry["request"]["url"]).path, entry["_test"]
        self.request = json.loads(entry["request"].get("postData", {}).get("text") or "null")
        self.response = json.loads(entry["response"]["content"].get("text") or "null")


def recorded_exchanges(name):
    if not (TRAFFIC / name).exists():
        pytest.skip("the recorded traffic is not beside the repository")
    with gzip.open(TRAFFIC / name) as har:
        return [(Recorded(entry), entry["_template"]) for entry in json.load(har)["log"]["entries"]]


def judged(exchanges):
    """Found and true templates, nameless, of what was answered with 2xx and has a truth."""
    learner = Learner()
    for call, _ in exchanges:
        learner.learn(call.method, call.path, call.status, request=call.request, response=call.response)
    return {
        (call.method, call.path): (nameless(template(learner, call.path)), nameless(true))
        for call, true in exchanges
        if true and 200 <= call.status < 300
    }


def nameless(path):
    return re.sub(r"\{[^{}]*\}", "{}", path)


def scored(exchanges):
    """The shares of exact templates, and of groups that mix several operations."""
    found = judged(exchanges)
    groups = defaultdict(set)
    for (method, _), (ours, true) in found.items():
        groups[method, ours].add(true)
    exact = sum(ours == true for ours, true in found.values())
    return exact / len(found), sum(len(truths) > 1 for truths in groups.values()) / len(groups)


def clustered(exchanges):
    """The share of operations with a parameter and several paths whose paths came out as one group."""
    found, ours, truly = judged(exchanges), defaultdict(set), defaultdict(set)
    for (method, path), (our, true) in found.items():
        ours[method, our].add(path)
        truly[method, true].add(path)
    several = [(key, paths) for key, paths in truly.items() if "{}" in key[1] and len(paths) > 1]
    return sum(
        paths in [group for (method, _), group in ours.items() if method == key[0]] for key, paths in several
    ) / len(several)
