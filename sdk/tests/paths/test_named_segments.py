"""A likely value that occurs in a body of its exchange is a parameter if it is alone or most neighbours are data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn, template

from affidavit._paths import classify
from affidavit._paths.classify import AMONG_DATA, NAMED_PARAMETER_ABOVE, NOTHING_TO_MIX, Decision, Judgement, Verdict
from affidavit._paths.learner import Learner
from affidavit._paths.signs.names import MORE_DATA, OWN_IDENTITY

SEGMENTS = st.sampled_from(
    ["projects", "acme-corp", "otter", "v-jane0376", "0", "17", "api", "v2", "orders", "_rest", ""]
)
PATHS = st.lists(st.lists(SEGMENTS, min_size=1, max_size=5).map(lambda words: "/" + "/".join(words)), max_size=8)
ANSWERS = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["otter", "acme-corp"]), "id": st.just(17)})


def learn_paths(paths, answer):
    learner = Learner()
    for path in paths:
        learner.learn("GET", path, 200, response=answer)
    return learner


def walk(decision: Decision):
    yield decision
    for following in [*decision.literals.values(), *filter(None, [decision.parameter])]:
        yield from walk(following)


@given(PATHS, ANSWERS)
def test_a_named_segment_is_decided_only_if_it_is_alone_or_among_data(paths, answer):
    for decision in walk(learn_paths(paths, answer)._decide()):
        siblings = decision.siblings
        open_segments = [segment for segment in decision.judgements if not siblings.is_fixed(segment)]
        is_lone = len(open_segments) == 1 and not siblings.data
        for segment in open_segments:
            judgement = decision.judgements[segment]
            is_among_data = MORE_DATA in judgement.signs
            assert is_lone or NOTHING_TO_MIX not in judgement.signs
            assert is_among_data or AMONG_DATA not in judgement.signs
            may_be_decided = (is_lone or is_among_data) and OWN_IDENTITY in judgement.signs
            if may_be_decided and judgement.verdict is Verdict.UNDECIDED:
                assert judgement.probability <= NAMED_PARAMETER_ABOVE


@given(st.floats(0.0, 1.0), st.booleans())
def test_a_lone_segment_stays_as_it_is_or_becomes_a_parameter(probability, is_named):
    learner = learn_paths(["/otter/orders"], {})
    siblings = learner._decide().siblings
    judgements = {"otter": Judgement(probability, {OWN_IDENTITY: 3.0} if is_named else {})}
    before = judgements["otter"].verdict
    classify._decide_named_segments(siblings, judgements)
    likely = is_named and before is Verdict.UNDECIDED and probability > NAMED_PARAMETER_ABOVE
    assert judgements["otter"].verdict is (Verdict.PARAMETER if likely else before)


@pytest.mark.parametrize("path", ["/v-jane0376", "/17"])
@pytest.mark.parametrize("is_among_data", [False, True])
def test_a_segment_with_neighbours_becomes_a_parameter_if_most_of_them_are_data(path, is_among_data):
    learner = learn_paths(["/otter/orders", f"{path}/orders"], {})
    siblings = learner._decide().siblings
    signs = {OWN_IDENTITY: 3.0, **({MORE_DATA: 1.0} if is_among_data else {})}
    judgements = {segment: Judgement(0.7, signs) for segment in siblings.words}
    classify._decide_named_segments(siblings, judgements)
    expected = Verdict.PARAMETER if is_among_data else Verdict.UNDECIDED
    assert all(judgement.verdict is expected for judgement in judgements.values())


def test_a_branch_that_is_called_like_a_word_of_the_api_is_a_branch():
    names = ("amber-otter", "lunar_falcon", "jane-doe-fix", "topic-2")
    learner = learn(
        *((f"GET /branches/{name}", {"name": name, "protected": True}) for name in names),
        ("GET /branches", [{"name": "x"}]),
        ("GET /branches/integrations", {"name": "integrations", "limits": [1]}),
        ("GET /branches/integrations/protection", {"url": "x", "on": True}),
        ("GET /branches/stale", [{"name": "jane"}]),
        ("GET /branches/stale/count", {"total": 4}),
        ("GET /integrations/4", {"id": 4}),
        ("GET /accounts/17", {"integrations": 3}),
    )
    assert template(learner, "/branches/integrations") == template(learner, "/branches/topic-2")
    assert template(learner, "/branches/stale") == "/branches/stale"
