"""The section of moves on the page of broken joins: the latest ones, and the one that is possible now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from outcomes.broken_joins.filters import JoinFilters
from outcomes.broken_joins.moves.move import find_movable
from outcomes.models import Move
from wire.address_members import read_number
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership

MAX_MOVES = 10  # the latest


def describe_moves(
    request: HttpRequest, environment: Environment, period: Period, filters: JoinFilters
) -> Mapping[str, Any]:
    """Return the latest moves, and the move that is possible now. Only editors may move; API keys only read."""
    may_move = has_role(request.user, environment.workspace, Membership.EDITOR)
    target, moves = environment.find_readable_sibling(filters.found_in), Move.objects.list_readable(environment)
    return {
        "moves": moves[:MAX_MOVES],
        "move_count": moves.count(),
        "may_move": may_move,
        "target": target,
        "movable_joins": len(find_movable(environment, target, period)) if target and may_move else 0,
        "result": request.GET.get("done", ""),
        "last_move": _find_last_move(request, environment),
    }


def _find_last_move(request: HttpRequest, environment: Environment) -> Move | None:
    """Return the move that the form of this page has just made, unless it was undone since."""
    number = read_number(request.GET, "move")
    return Move.objects.list_readable(environment).filter(pk=number, undone_at=None).first() if number else None
