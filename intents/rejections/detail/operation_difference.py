"""How the operation that was signed differs from the one that was called (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True)
class OperationDifference:
    """A signed operation and the called operation: their common start and end, and what differs in between."""

    start: str
    signed_part: str
    called_part: str
    end: str

    @property
    def is_last_slash(self) -> bool:
        """Return whether a slash at the end is the only difference."""
        return not self.end and {self.signed_part, self.called_part} == {"/", ""}


def compare_operations(signed_operation: str, called_operation: str) -> OperationDifference | None:
    """Return the difference; None if they are the same, or if the called operation was not reported."""
    if not called_operation or signed_operation == called_operation:
        return None
    start = _count_shared(signed_operation, called_operation)
    end = _count_shared(signed_operation[start:][::-1], called_operation[start:][::-1])
    signed_end, called_end = len(signed_operation) - end, len(called_operation) - end
    return OperationDifference(
        signed_operation[:start],
        signed_operation[start:signed_end],
        called_operation[start:called_end],
        signed_operation[signed_end:],
    )


def _count_shared(one_text: str, other_text: str) -> int:
    """Return the length of the longest common prefix of two texts."""
    pairs = zip(one_text, other_text, strict=False)  # the longer one may go on
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
