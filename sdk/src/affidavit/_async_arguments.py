"""Arguments that must not be async: functions and clients of the host, which this package calls but never awaits."""

from collections.abc import Callable
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from typing import TypeVar

_T = TypeVar("_T")


def refuse_async(name: str, function: Callable[..., object] | None) -> None:
    """Raise ValueError for an `async def` function: its result would be a coroutine, which counts as True.

    name: the name of the argument, for the message.
    """
    if iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__):
        raise ValueError(f"{name}: this function is async, and would not be awaited; give a plain one")


def require_value(answer: _T) -> _T:
    """Return the answer of a client. Raises TypeError for one that must be awaited: the client is asynchronous."""
    if isawaitable(answer):
        if iscoroutine(answer):
            answer.close()  # else Python warns that it was never awaited
        raise TypeError("the client is asynchronous; pass a synchronous one")
    return answer
