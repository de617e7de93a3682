"""What is done by hand on an operation's page: by a member's session, never by a key."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from catalog import afresh, queries
from catalog.models import Operation
from wire.problems import Problem
from workspaces.access import environment_of_member


@require_POST
@login_required
def start_afresh(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Learn the shapes of the operation `method` `path` anew from now on."""
    found = operation_of_member(request, slug, environment)
    afresh.start_afresh(found, actor=request.user.get_username(), now=timezone.now())
    return back_to(found, slug, environment)


@require_POST
@login_required
def take_back(request: HttpRequest, slug: str, environment: str, epoch: int) -> HttpResponseRedirect:
    """Undo one fresh start of the operation; one that was taken back already stays so."""
    found = operation_of_member(request, slug, environment)
    start = get_object_or_404(found.fresh_starts, epoch=epoch)
    afresh.take_back(start, actor=request.user.get_username(), now=timezone.now())
    return back_to(found, slug, environment)


def operation_of_member(request: HttpRequest, slug: str, name: str) -> Operation:
    """Raises Http404 or Problem 404, the same for what does not exist and for what is not yours."""
    environment = environment_of_member(request, slug, name)
    method, path = (request.POST.get(member, "").replace("\0", "") for member in ("method", "path"))
    found = queries.operation(environment, method, path)
    if found is None:
        raise Problem(404, "not-found", "This environment has no such operation. Look for it in the catalog.")
    return found


def back_to(operation: Operation, slug: str, environment: str) -> HttpResponseRedirect:
    query = QueryDict(mutable=True)
    query.update({"method": operation.method, "path": operation.path})
    address = reverse("operation", args=[slug, environment])
    return HttpResponseRedirect(f"{address}?{query.urlencode()}#afresh", status=303)
