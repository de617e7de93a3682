import json

import pytest

from affidavit._protection.deliveries import InFlight
from affidavit._protection.problem_responses import answer_known_call, answer_store_outage


@pytest.mark.parametrize("answer", [answer_store_outage(), answer_known_call(InFlight(retry_after=7))])
def test_an_answer_that_asks_for_a_retry_asks_for_a_new_intent(answer):
    """The nonce of this delivery is burnt: the same request again would be rejected as replayed."""
    assert "new intent" in json.loads(answer.body)["detail"]
    assert int(dict(answer.headers)["Retry-After"]) > 0
