"""Build a catalog of operations: used by the hub and by `affidavit har --dry-run`, not by reporters."""

from affidavit._paths.versions import is_scaffold
from affidavit._paths.words.singulars import singularize
from affidavit._shapes.alike_maps import is_alike_map
from affidavit._shapes.media_types import is_form, is_json, is_url_encoded
from affidavit._shapes.name_words import split_words

from ._daily_sums import SECONDS_PER_DAY, DailySums
from ._documents import (
    READS,
    build_operation_document,
    choose_names,
    fill_names,
    has_begun,
    merge_parameter_types,
    name_path,
)
from ._identity import PARAMETER, Identity, strip_names
from ._operation_sums import REQUEST, OperationSum, OperationSums, Part, build_media_types, part_key

__all__ = [
    "PARAMETER",
    "READS",
    "REQUEST",
    "SECONDS_PER_DAY",
    "DailySums",
    "Identity",
    "OperationSum",
    "OperationSums",
    "Part",
    "build_media_types",
    "build_operation_document",
    "choose_names",
    "fill_names",
    "has_begun",
    "is_alike_map",
    "is_form",
    "is_json",
    "is_scaffold",
    "is_url_encoded",
    "merge_parameter_types",
    "name_path",
    "part_key",
    "singularize",
    "split_words",
    "strip_names",
]
