"""Which identity tokens are accepted, with the keys that providers publish."""

import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from workspaces.people.single_sign_on.identity_token import decode_identity_token, list_possible_keys

ISSUER, CLIENT_ID = "https://login.example.com", "affidavit-hub"
RSA_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
CURVE_KEYS = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


def make_key(algorithm, number=0):
    if algorithm in CURVE_KEYS:
        return ec.generate_private_key(CURVE_KEYS[algorithm])
    return ed25519.Ed25519PrivateKey.generate() if algorithm == "EdDSA" else RSA_KEYS[number]


def publish(key, algorithm="RS256", **members):
    """Return the JSON Web Key; a member that is None is left out."""
    text = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key())
    document = {**json.loads(text), "alg": algorithm, "use": "sig", "kid": "one", **members}
    document.pop("key_ops", None)
    return {name: value for name, value in document.items() if value is not None}


def sign(key, algorithm="RS256", claims=None, **header):
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": CLIENT_ID, "sub": "ada-17", "iat": now, "exp": now + 300, **(claims or {})}
    return jwt.encode(claims, key, algorithm, headers=header)


def is_accepted(token, *documents):
    try:
        claims = decode_identity_token(token, {"keys": list(documents)}, client_id=CLIENT_ID, issuer=ISSUER)
    except jwt.PyJWTError:
        return False
    return claims["sub"] == "ada-17"


@pytest.mark.parametrize(
    "algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
)
@pytest.mark.parametrize("omitted", [(), ("alg",), ("use",), ("alg", "use", "kid")], ids=str)
def test_a_key_need_not_name_its_algorithm_its_use_and_itself(algorithm, omitted):
    key = make_key(algorithm)
    assert is_accepted(sign(key, algorithm, kid="one"), publish(key, algorithm, **dict.fromkeys(omitted)))


@pytest.mark.parametrize(
    ("claims", "accepts"),
    [
        ({"azp": CLIENT_ID}, True),
        ({"aud": [CLIENT_ID, "shop"], "azp": CLIENT_ID}, True),
        ({"aud": [CLIENT_ID, "shop"]}, True),
        ({"aud": [CLIENT_ID, "shop"], "azp": "shop"}, False),
        ({"azp": "shop"}, False),
        ({"azp": ""}, False),
        ({"azp": None}, True),
        ({"azp": [CLIENT_ID]}, False),
    ],
)
def test_a_token_that_another_client_was_given_is_refused(claims, accepts):  # OpenID Connect Core, 3.1.3.7
    assert is_accepted(sign(RSA_KEYS[0], claims=claims), publish(RSA_KEYS[0])) is accepts


def test_without_a_key_id_in_the_token_every_key_of_its_kind_is_tried():
    documents = [
        publish(make_key("ES256"), "ES256", kid="curve"),
        publish(RSA_KEYS[0], kid="encrypts", use="enc"),
        publish(RSA_KEYS[0], kid="earlier"),
        publish(RSA_KEYS[1], kid="present"),
    ]
    assert is_accepted(sign(RSA_KEYS[1]), *documents)
    assert is_accepted(sign(RSA_KEYS[1]), *[{**document, "kid": None} for document in documents])


@pytest.mark.parametrize("algorithm", CURVE_KEYS)
def test_a_key_of_another_curve_does_not_prevent_others(algorithm):
    others = [publish(make_key(other), other, alg=None, kid=None) for other in CURVE_KEYS if other != algorithm]
    key = make_key(algorithm)
    assert is_accepted(sign(key, algorithm), *others, publish(key, algorithm, alg=None, kid=None))
    assert not is_accepted(sign(key, algorithm), *others)


def test_a_key_that_the_hub_cannot_read_does_not_prevent_others():
    unreadable = [
        {"kty": "RSA"},
        {"kty": "RSA", "alg": []},
        {"kty": "new"},
        {"kty": "oct", "k": "AAAA"},
        {},
        5,
        publish(RSA_KEYS[1], n="!"),
    ]
    assert is_accepted(sign(RSA_KEYS[0], kid="one"), *unreadable, publish(RSA_KEYS[0]))


@pytest.mark.parametrize(
    "member", [{"kid": "two"}, {"use": "enc"}, {"alg": "RS512"}, {"alg": "RSA-OAEP"}, {"kid": 5}], ids=str
)
def test_a_key_for_something_else_signs_no_token(member):
    assert not is_accepted(sign(RSA_KEYS[0], kid="one"), publish(RSA_KEYS[0], **member))


def test_a_token_that_another_key_signed_is_refused():
    for header in ({"kid": "one"}, {}):
        assert not is_accepted(sign(RSA_KEYS[1], **header), publish(RSA_KEYS[0]), publish(RSA_KEYS[0], kid=None))


def test_no_public_key_serves_as_the_secret_of_a_symmetric_algorithm():
    secret = "a secret of more than thirty-two characters"
    token = sign(secret, "HS256", kid="one")
    document = {"kty": "oct", "k": jwt.utils.base64url_encode(secret.encode()).decode(), "kid": "one"}
    assert not is_accepted(token, document)
    assert not is_accepted(sign(None, "none"), publish(RSA_KEYS[0], alg=None))


@pytest.mark.parametrize("key_set", [None, [], {}, {"keys": None}, {"keys": {}}, "keys"], ids=str)
def test_a_key_set_that_is_none_is_named(key_set):
    with pytest.raises(ValueError, match="key set"):
        list_possible_keys(key_set, {"alg": "RS256"})
