"""How the package `affidavit` does the same as calls of the API that a customer's backend makes."""

from __future__ import annotations

from collections.abc import Mapping

IN_PYTHON: Mapping[str, str] = {
    "POST /api/conversation-outcomes": "`OutcomeReporter` queues outcomes and sends them in the background.",
    "POST /api/witness-reports": "`Witness`, or the middleware of your framework, sends the shapes of the traffic.",
    "GET /api/witness-rules": "`Witness` reads the rules at its start and applies them.",
    "GET /api/catalog": "`affidavit catalog pull` writes the catalog into a file, if it changed.",
    "GET /api/catalog/mcp.json": "`affidavit catalog pull --form mcp` writes them into a file, if they changed.",
    "GET /api/catalog/openapi.json": "`affidavit catalog pull --form openapi` writes it into a file, if it changed.",
    "GET /api/catalog/schemas.json": "`affidavit catalog pull --form schemas` writes it into a file, if it changed.",
    "GET /api/catalog/tools.json": "`affidavit tools lock` saves them, `affidavit tools verify` finds later changes.",
    "POST /api/intents/verify": "`IntentVerifier` verifies in your own process, without a call of the hub.",
    "POST /api/verification-reports": "`VerificationReports` counts verifications and sends them every few seconds.",
    "POST /api/annotations": "`affidavit annotate` adds one from a shell.",
}
