"""Build a catalog of operations: used by the hub and by `affidavit har --dry-run`, not by reporters."""

from affidavit._paths.templates import is_scaffold
from affidavit._paths.words import singularize, split_words

from ._documents import (
    READS,
    build_operation_document,
    choose_names,
    fill_names,
    has_begun,
    merge_parameter_types,
    name_path,
)
from ._maps import is_alike_map
from ._sums import PARAMETER, SECONDS_PER_DAY, DailySums, Identity, OperationSum, OperationSums, Part, strip_names

__all__ = [
    "PARAMETER",
    "READS",
    "SECONDS_PER_DAY",
    "DailySums",
    "Identity",
    "OperationSum",
    "OperationSums",
    "Part",
    "build_operation_document",
    "choose_names",
    "fill_names",
    "has_begun",
    "is_alike_map",
    "is_scaffold",
    "merge_parameter_types",
    "name_path",
    "singularize",
    "split_words",
    "strip_names",
]
