"""The only segment of a position mixes nothing as a parameter, so a likely value that a body names becomes one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._paths import classify
from affidavit._paths.classify import LONE_PARAMETER_ABOVE, NOTHING_TO_MIX, Decision, Judgement, Verdict
from affidavit._paths.learner import Learner
from affidavit._paths.sign_names import OWN_IDENTITY

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
def test_only_a_segment_without_neighbours_is_decided_for_having_none(paths, answer):
    for decision in walk(learn_paths(paths, answer)._decide()):
        siblings = decision.siblings
        open_segments = [segment for segment in decision.judgements if not siblings.is_fixed(segment)]
        is_lone = len(open_segments) == 1 and not siblings.data
        for segment in open_segments:
            judgement = decision.judgements[segment]
            assert is_lone or NOTHING_TO_MIX not in judgement.signs
            if is_lone and judgement.verdict is Verdict.UNDECIDED and OWN_IDENTITY in judgement.signs:
                assert judgement.probability <= LONE_PARAMETER_ABOVE


@given(st.floats(0.0, 1.0), st.booleans())
def test_a_lone_segment_stays_as_it_is_or_becomes_a_parameter(probability, is_named):
    learner = learn_paths(["/otter/orders"], {})
    siblings = learner._decide().siblings
    judgements = {"otter": Judgement(probability, {OWN_IDENTITY: 3.0} if is_named else {})}
    before = judgements["otter"].verdict
    classify._decide_lone_segment(siblings, judgements)
    likely = is_named and before is Verdict.UNDECIDED and probability > LONE_PARAMETER_ABOVE
    assert judgements["otter"].verdict is (Verdict.PARAMETER if likely else before)


@pytest.mark.parametrize("path", ["/v-jane0376", "/17"])
def test_a_segment_with_a_neighbour_stays_undecided(path):
    learner = learn_paths(["/otter/orders", f"{path}/orders"], {})
    siblings = learner._decide().siblings
    judgements = {segment: Judgement(0.7, {OWN_IDENTITY: 3.0}) for segment in siblings.words}
    classify._decide_lone_segment(siblings, judgements)
    assert all(judgement.verdict is Verdict.UNDECIDED for judgement in judgements.values())
