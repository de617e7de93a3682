"""Affidavit: the customer's side of signed intents, witness descriptors and outcomes.

In the docstrings of this package, `contract §3` means section 3 of docs/contract.md.
"""

from ._canonical import NotCanonical, canonical_json
from ._errors import AffidavitError, HarError, HubUnreachable, ReportError, StoreUnavailable
from ._hub.api_keys import is_well_formed as is_well_formed_key
from ._hub.api_keys import make_key
from ._intents.args import InvalidArgs, RequestArgs, args_hash, member_args, request_args
from ._intents.check_descriptions import CHECKS, Check, read_unproven_payload
from ._intents.intent import Intent, MintedIntent, mint_intent
from ._intents.nonces import MemoryNonces, NonceStore, RedisNonces, SqliteNonces, SqlNonces
from ._intents.reasons import REASONS, Reason
from ._intents.verifier import IntentRejected, IntentVerifier
from ._json import ABSENT, Absent, InvalidJson, Json, whole_number
from ._json import parse as parse_json
from ._outcomes.report import OutcomeReceipt, report_outcomes, reportOutcomes
from ._outcomes.reporter import OutcomeCounts, OutcomeReporter
from ._paths.templates import Template, retemplate, template
from ._protection.deliveries import Delivery, DeliveryStore, StoredResponse
from ._protection.memory_deliveries import MemoryDeliveries
from ._protection.protection import Admission, Call, Demands, Protection
from ._protection.redis_deliveries import RedisDeliveries
from ._protection.sql_deliveries import SqlDeliveries, SqliteDeliveries
from ._protection.verification_reports import VerificationReports
from ._shapes.descriptor_to_evidence import InvalidDescriptor, from_descriptor
from ._shapes.evidence import Evidence, merge
from ._shapes.evidence_to_descriptor import Descriptor, describe
from ._shapes.redaction import Redactor
from ._shapes.values_to_evidence import infer, observe
from ._version import __version__ as __version__
from ._witness.observations import Observations
from ._witness.witness import Witness, WitnessStats
from ._witness.witness_reports import WitnessReceipt, send_observations

__all__ = [
    "ABSENT",
    "CHECKS",
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
    "SqliteDeliveries",
    "SqliteNonces",
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
    "member_args",
    "merge",
    "mint_intent",
    "observe",
    "parse_json",
    "read_unproven_payload",
    "reportOutcomes",
    "report_outcomes",
    "request_args",
    "retemplate",
    "send_observations",
    "template",
    "whole_number",
]
