"""Affidavit: the customer's side of signed intents, witness descriptors and outcomes."""

from ._args import InvalidArgs, RequestArgs, args_hash, request_args
from ._canonical import NotCanonical, canonical_json
from ._deliveries import Delivery, DeliveryStore, StoredResponse
from ._delivery_stores import MemoryDeliveries, RedisDeliveries, SqlDeliveries
from ._describe import Descriptor, describe
from ._errors import AffidavitError, HarError, HubUnreachable, ReportError
from ._evidence import Evidence, merge
from ._explain import Check
from ._infer import infer, observe
from ._intents import Intent, MintedIntent, mint_intent
from ._json import InvalidJson, Json
from ._json import parse as parse_json
from ._keys import is_well_formed as is_well_formed_key
from ._keys import make_key
from ._live_witness import Witness, WitnessStats
from ._nonces import MemoryNonces, NonceStore, RedisNonces, SqlNonces
from ._observations import ABSENT, Absent, Observations
from ._outcome_reporter import OutcomeCounts, OutcomeReporter
from ._outcomes import OutcomeReceipt, report_outcomes, reportOutcomes
from ._protect import Admission, Call, Demands, Protection
from ._reasons import REASONS, Reason
from ._received import InvalidDescriptor, from_descriptor
from ._redaction import Redactor
from ._store import StoreUnavailable
from ._templates import Template, retemplate, template
from ._verification_reports import VerificationReports
from ._verifier import IntentRejected, IntentVerifier
from ._witness import WitnessReceipt, send_observations

__all__ = [
    "ABSENT",
    "REASONS",
    "Absent",
    "Admission",
    "AffidavitError",
    "Call",
    "Check",
    "Delivery",
    "DeliveryStore",
    "Demands",
    "Descriptor",
    "Evidence",
    "HarError",
    "HubUnreachable",
    "Intent",
    "IntentRejected",
    "IntentVerifier",
    "InvalidArgs",
    "InvalidDescriptor",
    "InvalidJson",
    "Json",
    "MemoryDeliveries",
    "MemoryNonces",
    "MintedIntent",
    "NonceStore",
    "NotCanonical",
    "Observations",
    "OutcomeCounts",
    "OutcomeReceipt",
    "OutcomeReporter",
    "Protection",
    "Reason",
    "Redactor",
    "RedisDeliveries",
    "RedisNonces",
    "ReportError",
    "RequestArgs",
    "SqlDeliveries",
    "SqlNonces",
    "StoreUnavailable",
    "StoredResponse",
    "Template",
    "VerificationReports",
    "Witness",
    "WitnessReceipt",
    "WitnessStats",
    "args_hash",
    "canonical_json",
    "describe",
    "from_descriptor",
    "infer",
    "is_well_formed_key",
    "make_key",
    "merge",
    "mint_intent",
    "observe",
    "parse_json",
    "reportOutcomes",
    "report_outcomes",
    "request_args",
    "retemplate",
    "send_observations",
    "template",
]
