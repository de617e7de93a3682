"""The catalog's tables: the inbox of witness reports, operations with their evidence, versions, drift and overrides."""

from catalog.models.drift import Drift, DriftMute, OperationVersion
from catalog.models.inbox import ReporterActivity, WitnessReport, WitnessReportId
from catalog.models.operations import (
    MAX_METHOD,
    PART_IDENTITY,
    CatalogRevision,
    ExcessOperation,
    KeptDocument,
    Operation,
    OperationDay,
    OperationPart,
)
from catalog.models.overrides import BaselineReset, Decision, HintRule, MapRule, RedactionRule, TemplateRule

__all__ = [
    "MAX_METHOD",
    "PART_IDENTITY",
    "BaselineReset",
    "CatalogRevision",
    "Decision",
    "Drift",
    "DriftMute",
    "ExcessOperation",
    "HintRule",
    "KeptDocument",
    "MapRule",
    "Operation",
    "OperationDay",
    "OperationPart",
    "OperationVersion",
    "RedactionRule",
    "ReporterActivity",
    "TemplateRule",
    "WitnessReport",
    "WitnessReportId",
]
