"""What the type of a node is called, on pages and in downloads (pure)."""

from __future__ import annotations

from catalog.evidence.outlines import Descriptor

SEVERAL_TYPES = "several types"  # what mixed types are called if they are not known


def describe_type(descriptor: Descriptor) -> str:
    """Return `array of object`, `map of string`, `string (binary)` for a file in a form, or the type itself.

    Mixed types are `integer or string` if the descriptor counts them; the descriptors of outlines do not.
    """
    if has_several_types(descriptor):
        return " or ".join(sorted(descriptor.get("types", ()))) or SEVERAL_TYPES
    type_name = str(descriptor["type"])
    if "format" in descriptor:
        return f"{type_name} ({descriptor['format']})"
    if type_name == "array":
        return f"array of {_describe_inner_type(descriptor['items'])}"
    if type_name == "object" and "values" in descriptor and not descriptor.get("properties"):
        return f"map of {_describe_inner_type(descriptor['values'])}"
    return type_name


def has_several_types(descriptor: Descriptor) -> bool:
    return descriptor["type"] == "unknown" and descriptor.get("reason") == "divergent"


def _describe_inner_type(descriptor: Descriptor) -> str:
    """Return the type of items or values, without that of their own contents: `array` for arrays of strings."""
    return f"({describe_type(descriptor)})" if has_several_types(descriptor) else str(descriptor["type"])
