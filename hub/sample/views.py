"""Remove the sample workspace: a page that says what will be deleted, and its form."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hub.sample import workspace as sample
from wire import wake_worker
from workspaces.access import list_workspaces
from workspaces.models import Workspace
from workspaces.remove import hide_workspace
from workspaces.tasks import delete_workspace


def may_remove_sample(request: HttpRequest, workspace: Workspace) -> bool:
    """Return whether to offer the removal: to operators only, and only for the sample."""
    return request.user.is_superuser and sample.is_sample(workspace)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def remove_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the sample holds, and ask whether to remove it. The form of that page removes it."""
    workspace = get_object_or_404(list_workspaces(request.user), slug=slug)
    if not may_remove_sample(request, workspace):
        raise Http404
    if request.method == "POST":
        sample.forget_keys()
        hide_workspace(workspace, actor=request.user.get_username(), now=timezone.now())
        wake_worker.send_after_commit(delete_workspace, workspace.pk)
        return redirect("home")
    return render(request, "hub/remove_sample.html", {"workspace": workspace, "counts": sample.count_rows(workspace)})
