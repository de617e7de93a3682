"""Sign as a Python backend does. The argument names the style in which json.dumps writes.

The standard input is the job that ../README.md describes under "Signers".
"""

import base64
import hashlib
import hmac
import json
import sys

STYLES = {
    "default": {},
    "utf-8": {"ensure_ascii": False},
    "compact": {"separators": (",", ":")},
    "sorted": {"separators": (",", ":"), "ensure_ascii": False, "sort_keys": True},
    "pretty": {"indent": 2},
}
READ = {"string": str, "number": json.loads, "boolean": json.loads}


def main(style: str) -> None:
    secret, *members = sys.stdin.buffer.read().decode().rstrip("\n").split("\n")
    payload = {name: READ[kind](text) for name, kind, text in (line.split("\t") for line in members)}
    text = json.dumps(payload, **STYLES[style])
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    envelope = f'{{"payload": {text}, "signature": "{signature}"}}'
    print(base64.urlsafe_b64encode(envelope.encode()).decode())


main(sys.argv[1])
