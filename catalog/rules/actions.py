"""What is done by hand on an operation's page: by a member's session, never by a key."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from catalog import queries
from catalog.browse.tree_rows import Node, list_part_nodes
from catalog.evidence.parts import build_part_shapes
from catalog.models import Operation
from catalog.rules import baseline
from catalog.rules import maps as map_rules
from wire.errors import InvalidRequest, NotFound
from workspaces.access import require_member_environment
from workspaces.page import redirect_to_page


@require_POST
@login_required
def start_afresh(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Learn the shapes of the operation `method` `path` anew from now on; of one node where `part` names it."""
    found = operation_of_member(request, slug, environment)
    part, pointer = place_of(request, found) if request.POST.get("part") else ("", "")
    baseline.reset_baseline(found, part=part, pointer=pointer, actor=request.user.get_username(), now=timezone.now())
    return back_to(found, part, pointer)


@require_POST
@login_required
def show_as(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Show the object at `part` and `pointer` as a map or with its properties, whatever it looks like."""
    found = operation_of_member(request, slug, environment)
    part, node = node_of(request, found)
    as_map = {"map": True, "properties": False}.get(request.POST.get("as", ""))
    if as_map is None:
        raise InvalidRequest("Send as=map or as=properties.")
    if not node.is_object:
        detail = "No object was seen at this place, so it has no names. Choose a place of type object or map."
        raise InvalidRequest(detail)
    by = {"actor": request.user.get_username(), "now": timezone.now()}
    map_rules.add_map_rule(found, part, node.pointer, as_map=as_map, **by)
    return back_to(found, part, node.pointer)


def place_of(request: HttpRequest, operation: Operation) -> tuple[str, str]:
    """Part and pointer of a place that the operation's page shows; raises NotFound for any other."""
    part, node = node_of(request, operation)
    return part, node.pointer


def node_of(request: HttpRequest, operation: Operation) -> tuple[str, Node]:
    """Part and node of the place that a form names; raises NotFound for one that the page does not show."""
    part, pointer = request.POST.get("part", ""), request.POST.get("pointer", "")
    shape = next((shape for shape in build_part_shapes(operation) if shape.key == part), None)
    node = next((node for node in list_part_nodes(shape) if node.pointer == pointer), None) if shape else None
    if node is None:
        raise NotFound("This operation has no such place. Choose one on its page.")
    return part, node


def operation_of_member(request: HttpRequest, slug: str, name: str) -> Operation:
    """Raises Http404 or NotFound, the same for what does not exist and for what is not yours."""
    environment = require_member_environment(request, slug, name)
    method, path = (request.POST.get(member, "").replace("\0", "") for member in ("method", "path"))
    found = queries.operation(environment, method, path)
    if found is None:
        raise NotFound("This environment has no such operation. Look for it in the catalog.")
    return found


def back_to(operation: Operation, part: str = "", pointer: str = "") -> HttpResponseRedirect:
    """To the operation's page; to a place on it where one was decided on."""
    query = {"method": operation.method, "path": operation.path, "part": part, "at": pointer}
    return redirect_to_page("operation", operation.environment, query, fragment="place" if part else "afresh")
