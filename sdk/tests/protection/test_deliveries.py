import pytest

from affidavit._intents.intent import read_intent
from affidavit._protection.deliveries import StoredResponse, compute_fingerprint

RESPONSE = StoredResponse(201, (("content-type", "application/json"), ("x-é", "ü")), b'{"id": 1}\x00\xff')
V2 = {
    "v": 2, "toolCallId": "c", "tenantId": "w", "sub": "u", "aud": "a", "operation": "POST /x", "argsHash": "0" * 64,
    "nonce": "n", "issuedAt": 1, "expiresAt": 2,
}  # fmt: skip


@pytest.mark.parametrize(("change", "is_equal"), [
    ({"nonce": "m", "issuedAt": 5, "expiresAt": 6, "aud": "b"}, True),
    ({"sub": "v"}, False), ({"operation": "POST /y"}, False), ({"argsHash": "1" * 64}, False),
])  # fmt: skip
def test_a_fingerprint_is_of_user_operation_and_arguments(change, is_equal):
    assert (
        compute_fingerprint(read_intent({**V2, **change}, 2)) == compute_fingerprint(read_intent(V2, 2))
    ) is is_equal


def test_a_response_survives_its_text_form():
    assert StoredResponse.from_text(RESPONSE.to_text()) == RESPONSE
    assert RESPONSE.to_text().isascii()
