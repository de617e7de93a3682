"""A host whose hub fails keeps its speed and its limits, logs the failure once, and loses nothing that was queued.

`make bench only=sdk_faults` compares the speed and memory of such a host with those of a host whose hub works.
"""

import logging
import ssl
import time
from collections import Counter

import pytest
from support.faulty_hub import FAULTS, WRONG_CERTIFICATE, run_faulty_hub
from support.witness_hub import KEY, observe_get, wait_until

from affidavit import OutcomeReporter, Witness
from affidavit._hub.retries import Retry
from affidavit._hub.transport import HttpTransport
from affidavit._outcomes.report import MAX_OUTCOMES

REQUESTS, CAPACITY, OPERATIONS = 2_000, 300, 5
LONGEST_CALL = 2.0  # seconds; enough for a busy machine, but far less than the time for which the hub is silent


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_hub_does_not_slow_down_its_host_and_loses_nothing(fault, tmp_path, caplog):
    if fault == WRONG_CERTIFICATE:
        pytest.importorskip("cryptography.x509", reason="needs the package cryptography")
    caplog.set_level(logging.INFO, "affidavit")
    with run_faulty_hub(fault, tmp_path) as hub:
        reporter, witness = start_reporters(hub)
        accepted, longest_call = play_requests(reporter, witness)
        assert longest_call < LONGEST_CALL
        assert wait_until(lambda: caplog.text.count("kept and sent again") == 2, 20), caplog.text
        assert reporter.counts.waiting == len(accepted) <= CAPACITY + MAX_OUTCOMES
        assert reporter.counts.undelivered == REQUESTS - len(accepted)
        assert len(witness._intake._routed_operations) <= OPERATIONS
        hub.heal()
        assert wait_until(lambda: reporter.flush(5) and witness.flush(5), 60), caplog.text
        assert hub.count_outcomes() == Counter(accepted)
        assert hub.count_observations() == witness.stats.delivered == REQUESTS - witness.stats.dropped
        reporter.close(1)
        witness.close(1)
    assert len(caplog.records) == 5, caplog.text  # two about kept reports, two about sent reports, one about the queue


def start_reporters(hub):
    """Return a reporter and a witness that soon give up on an answer."""
    trusted = ssl.create_default_context(cafile=hub.trusted) if hub.trusted else None
    transports = [HttpTransport(hub.url, 0.5, retry=Retry(attempts=2, total=0.5), context=trusted) for _ in range(2)]
    reporter = OutcomeReporter(KEY, transport=transports[0], capacity=CAPACITY, flush_every=0.05)
    return reporter, Witness(KEY, transport=transports[1], max_operations=OPERATIONS, interval=0.2)


def play_requests(reporter, witness):
    """Play requests of an app; return the ids whose outcomes were queued, and the seconds of the longest call."""
    accepted, longest_call = [], 0.0
    for number in range(REQUESTS):
        began = time.perf_counter()
        if reporter.report(f"conversation {number}", "purchase"):
            accepted.append(f"conversation {number}")
        observe_get(witness, f"/orders/{number}", {"id": number}, route=f"/{'p' * (number % 8 + 1)}/<int:pk>")
        longest_call = max(longest_call, time.perf_counter() - began)
    return accepted, longest_call
