"""For whoever keeps a catalog of operations: the hub, and `affidavit har --dry-run`. Reporters need none of it."""

from ._documents import (
    READS,
    has_begun,
    operation_document,
    parameter_type,
    shown_names,
    shown_path,
    with_names,
)
from ._maps import is_alike_map
from ._sums import PARAMETER, DailySums, Identity, OperationSum, Part, Sums, nameless

__all__ = [
    "PARAMETER",
    "READS",
    "DailySums",
    "Identity",
    "OperationSum",
    "Part",
    "Sums",
    "has_begun",
    "is_alike_map",
    "nameless",
    "operation_document",
    "parameter_type",
    "shown_names",
    "shown_path",
    "with_names",
]
