"""A verifier under changing secrets, many threads, and randomly altered headers."""

import base64
import json
import os
import random
import threading
import time
from collections import Counter

import pytest
from support.verifier_calls import (
    NOW,
    OTHER_SECRET,
    REQUEST,
    SECRET,
    WORKSPACE,
    mint_example,
    reason,
    v1,
    verifier,
)

from affidavit._intents.intent import sign_payload
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentRejected

MUTATIONS = int(os.environ.get("AFFIDAVIT_FUZZ", "100000"))


def test_a_rotation_under_load_rejects_no_valid_request():
    current = [[SECRET]]
    subject = verifier(lambda workspace: current[0])
    outcomes: list[str | None] = []

    def call() -> None:
        for _ in range(200):
            outcomes.append(reason(mint_example(current[0][0]).header, subject))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for newest in range(20):
        current[0] = [f"gas_{newest:043}", *current[0]]
        time.sleep(0.002)
    for thread in threads:
        thread.join()
    assert Counter(outcomes) == {None: 800}


def test_switching_to_version_2_under_load_rejects_no_valid_request():
    """Signers change to version 2 one by one. After the last has changed, the window closes, and they call again."""
    clock = [NOW]
    subject = verifier(accept_v1=NOW + 5, now=lambda: clock[0])
    outcomes: list[tuple[int, str | None]] = []
    ready = threading.Barrier(5)

    def call(changes_at: int) -> None:
        ready.wait()
        for turn in range(200):
            version = 2 if turn >= changes_at else 1
            outcomes.append((version, reason(mint_example().header if version == 2 else v1(), subject)))
        ready.wait()  # all signers have changed; now the window closes
        ready.wait()
        for _ in range(50):
            outcomes.append((2, reason(mint_example().header, subject)))

    threads = [threading.Thread(target=call, args=(changes_at,)) for changes_at in (20, 80, 140, 199)]
    for thread in threads:
        thread.start()
    for moment in (NOW, NOW + 5, NOW + 6):
        clock[0] = moment
        ready.wait()
    for thread in threads:
        thread.join()
    assert {outcome for _, outcome in outcomes} == {None}
    assert len(outcomes) == 4 * 250
    assert reason(v1(), subject) == "unsupported-version"


def test_of_64_threads_with_one_intent_exactly_one_passes():
    subject = verifier()
    for _ in range(20):
        header, outcomes, start = mint_example().header, [], threading.Barrier(64)

        def call(header=header, outcomes=outcomes, start=start) -> None:
            start.wait()
            outcomes.append(reason(header, subject))

        threads = [threading.Thread(target=call) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Counter(outcomes) == {None: 1, "replayed": 63}


def mutate_text(source: random.Random, text: bytes) -> bytes:
    """Return the text with a few random edits. Many insert what has a meaning in JSON or base64url."""
    data = bytearray(text)
    for _ in range(source.randrange(1, 4)):
        position = source.randrange(len(data) + 1)
        kind = source.randrange(4)
        if kind == 0:
            data[position : position + 1] = bytes([source.choice(b'{}[]",:\\u0123456789abcdefE+-. \n=_/\x00\xff')])
        elif kind == 1:
            data[position:position] = source.choice([b" ", b"\\", b'"v":2,', b"0", b"\xe9", b"null", b"=", b"[[[["])
        elif kind == 2:
            del data[position : position + source.randrange(1, 20)]
        else:
            data[position:position] = data[source.randrange(len(data) + 1) :][: source.randrange(1, 30)]
    return bytes(data)


def mutate_header(source: random.Random, header: str, payload: dict) -> str:
    raw = base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
    kind = source.randrange(4)
    if kind == 0:
        return mutate_text(source, header.encode()).decode("latin-1")
    if kind == 1:
        return base64.urlsafe_b64encode(mutate_text(source, raw)).decode()
    if kind == 2:
        envelope = json.loads(raw)
        members = source.sample(list(envelope["payload"].items()), len(envelope["payload"]))
        indent = source.choice([None, 1])
        text = json.dumps({**envelope, "payload": dict(members)}, indent=indent, ensure_ascii=source.random() < 0.5)
        return base64.urlsafe_b64encode(text.encode()).decode()
    value = source.choice([None, 2, 2.0, "", "x", [], True, -1, 1e300, 10**300])
    return sign_payload(OTHER_SECRET, {**payload, source.choice(list(payload)): value})


class Forgetful(MemoryNonces):
    """A nonce store that accepts every nonce, so that the payload of every accepted mutation is compared."""

    def burn(self, workspace, nonce, expires_at, *, now):
        return True


def test_mutated_headers_give_listed_reasons_only_and_never_another_payload():
    source = random.Random(2027)
    subject = verifier(nonces=Forgetful())
    originals = [
        mint_example(sub=sub, nonce=f"n{position}") for position, sub in enumerate(["u", "é\U0001f600", '"\\/'])
    ]
    seen: Counter[str | None] = Counter()
    for turn in range(MUTATIONS):
        original = originals[turn % 3]
        header = mutate_header(source, original.header, original.payload)
        try:
            intent = subject.verify(header, **REQUEST)
        except IntentRejected as rejection:
            seen[rejection.reason] += 1
        else:
            assert intent.payload == original.payload
            seen[None] += 1
    assert set(seen) - {None} <= set(REASONS)
    assert min(seen["malformed"], seen["bad-signature"], seen[None]) > MUTATIONS // 20


@pytest.mark.parametrize("seed", range(4))
def test_any_signed_payload_gives_a_listed_reason(seed):
    source = random.Random(seed)
    values = [None, True, False, 0, 2, -1, 1e300, 10**300, NOW, NOW * 1000, "", "x", "\u2028", [], {}, [[]]]
    second, first = mint_example().payload, {"method": "POST", "path": "/orders", "tenantId": WORKSPACE}
    for _ in range(1000):
        payload = dict(second if source.random() < 0.7 else first)
        for name in source.sample(["v", "toolCallId", *payload, "userId", "requiresStepUp"], 2):
            payload[name] = source.choice(values)
        assert reason(sign_payload(SECRET, payload)) in {None, *REASONS}
