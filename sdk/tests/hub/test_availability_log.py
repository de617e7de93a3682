"""The log says once that the hub is away, and once that it is back."""

import logging

from support.scripted_hub import ScriptedHub, answer, reset
from support.witness_hub import wait_until

from affidavit import Witness, make_key
from affidavit._hub.availability_log import Availability

KEY = make_key("gak_")
STORED = {"recorded": 1, "accepted": 1, "rules": [], "unknownConversations": []}


def test_rules_are_requested_again_until_the_hub_answers_and_the_outage_is_logged_once(caplog):
    with ScriptedHub(*[reset()] * 4, answer(200, STORED)) as hub:
        reporter = Witness(KEY, base_url=hub.url, interval=0.05)
        reporter.observe("GET", "/x", 200, route="/x")
        assert wait_until(lambda: reporter.stats.delivered == 1, 20)
        reporter.close(1)
    assert len(caplog.records) == 2, caplog.text


def test_a_hub_that_takes_every_second_report_fills_no_log(caplog):
    moment = [1000.0]
    availability = Availability("outcomes", logging.getLogger("affidavit"), clock=lambda: moment[0])
    for _ in range(600):
        moment[0] += 0.5
        availability.note_failure("away")
        availability.note_answer()
    assert len(caplog.records) <= 2 * (300 / 60 + 1)
