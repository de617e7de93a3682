"""The forms of the page of broken joins: move them, and undo a move."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone

from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.models import Move
from wire.address_members import read_text
from wire.errors import InvalidRequest
from wire.time.period import parse_period
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import member_form, return_to_page


@member_form(Membership.EDITOR)
def post_move(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Move the broken joins that the page counted, then go back to it.

    The form's address names the period by its two ends, so that joins of later quarter hours are not moved, however
    late the form is sent.
    """
    target = environment.find_readable_sibling(read_text(request.POST, "to"))
    period = parse_period(request.GET, now=timezone.now())
    if target is None or period.faults:
        raise InvalidRequest("Name another environment of this workspace, and a range.")
    move = move_broken_joins(environment, target, period, actor=request.user.get_username(), now=timezone.now())
    # The joins of this cause are gone from the page, so the filter on the cause would show an empty list.
    chosen_cause = {"why": None, "in": None, "page": None}
    if move is None:
        return _return_to_page(request, environment, chosen_cause | {"done": "nothing"})
    return _return_to_page(request, environment, chosen_cause | {"done": "moved", "move": str(move.pk)})


@member_form(Membership.EDITOR)
def post_undo(request: HttpRequest, environment: Environment, pk: int) -> HttpResponseRedirect:
    move = get_object_or_404(Move.objects.list_for(environment), pk=pk)
    is_undone = undo_move(move, actor=request.user.get_username(), now=timezone.now())
    return _return_to_page(request, environment, {"done": "undone" if is_undone else "nothing"})


def _return_to_page(
    request: HttpRequest, environment: Environment, changes: Mapping[str, str | None]
) -> HttpResponseRedirect:
    """Redirect to the page with the period that it showed, named by its preset or by its two ends.

    changes: what else changes in its address; None removes a name from it.
    """
    names = ("range", "tz") if request.POST.get("range") else ("from", "to", "tz")
    members = {**request.GET.dict(), "range": request.POST.get("range", "")}
    period = {name: members.get(name) for name in names}
    return return_to_page(request, "joins", environment, {**period, **changes})
