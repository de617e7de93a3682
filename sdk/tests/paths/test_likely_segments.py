"""A segment that is likely data becomes a parameter where this cannot mix several words of an API.

That is the case beside parameters, and where no other segment at the same position is likely data.
"""

from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn, template

from affidavit._paths import classify
from affidavit._paths.classify import (
    AMONG_DATA,
    LIKELY_ABOVE,
    NAMED_LIKELY_ABOVE,
    NOTHING_TO_MIX,
    Decision,
    Judgement,
    Verdict,
)
from affidavit._paths.learner import Learner
from affidavit._paths.signs.named_signs import OWN_IDENTITY, UNLIKE_DATA

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


def is_likely(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.UNDECIDED and judgement.probability > LIKELY_ABOVE


def walk(decision: Decision):
    yield decision
    for following in [*decision.literals.values(), *filter(None, [decision.parameter])]:
        yield from walk(following)


@given(PATHS, ANSWERS)
def test_likely_data_stays_undecided_only_beside_other_likely_data_where_nothing_is_a_parameter(paths, answer):
    for decision in walk(learn_paths(paths, answer)._decide()):
        judgements = decision.judgements.values()
        parameters = [judgement for judgement in judgements if judgement.verdict is Verdict.PARAMETER]
        likely = [judgement for judgement in judgements if is_likely(judgement) and UNLIKE_DATA not in judgement.signs]
        if likely:
            assert len(likely) > 1
            assert not parameters
            assert not decision.siblings.data
        for judgement in parameters:
            if NOTHING_TO_MIX in judgement.signs:
                assert len(parameters) == 1
                assert not decision.siblings.data
            if AMONG_DATA in judgement.signs:
                assert len(parameters) > 1 or decision.siblings.data


@given(st.floats(0.0, 1.0), st.booleans())
def test_a_lone_segment_stays_as_it_is_or_becomes_a_parameter(probability, is_named):
    siblings = learn_paths(["/otter/orders"], {})._decide().siblings
    judgements = {"otter": Judgement(probability, {OWN_IDENTITY: 3.0} if is_named else {})}
    before = judgements["otter"].verdict
    classify._decide_likely_segments(siblings, judgements)
    is_decided = before is Verdict.UNDECIDED and probability > (NAMED_LIKELY_ABOVE if is_named else LIKELY_ABOVE)
    assert judgements["otter"].verdict is (Verdict.PARAMETER if is_decided else before)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2), st.booleans())
def test_likely_segments_become_parameters_beside_a_parameter_or_if_only_one_is_likely(probabilities, with_data):
    """Beside a parameter each likely segment becomes one. Without one, only a segment that is likely alone does."""
    paths = ["/otter/orders", "/acme-corp/orders", *(["/17/orders"] if with_data else [])]
    siblings = learn_paths(paths, {})._decide().siblings
    before = {segment: Judgement(p, {}) for segment, p in zip(("otter", "acme-corp"), probabilities, strict=True)}
    after = dict(before)
    classify._decide_likely_segments(siblings, after)
    verdicts = {judgement.verdict for judgement in before.values()}
    likely = [segment for segment, judgement in before.items() if is_likely(judgement)]
    if with_data or Verdict.PARAMETER in verdicts or len(likely) == 1:
        assert all(after[segment].verdict is Verdict.PARAMETER for segment in likely)
        assert all(after[segment] == before[segment] for segment in before.keys() - set(likely))
    else:
        assert after == before


def test_likely_data_beside_parameters_that_answer_otherwise_stays_undecided():
    siblings = learn_paths(["/otter/orders", "/17/orders"], {})._decide().siblings
    judgements = {"otter": Judgement(0.8, {UNLIKE_DATA: -1.3})}
    classify._decide_likely_segments(siblings, judgements)
    assert judgements["otter"].verdict is Verdict.UNDECIDED


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
