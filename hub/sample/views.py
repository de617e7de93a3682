"""Remove the sample workspace from its overview."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from hub.sample import workspace as sample
from wire import wake_worker
from wire.http.problems import Problem
from workspaces.access import list_workspaces
from workspaces.models import Workspace
from workspaces.remove import hide_workspace
from workspaces.tasks import delete_workspace


def may_remove_sample(request: HttpRequest, workspace: Workspace) -> bool:
    """Whether to offer the button: to operators only, and only for the sample."""
    return request.user.is_superuser and sample.is_sample(workspace)


@login_required
def remove_sample(request: HttpRequest, slug: str) -> HttpResponse:
    if request.method != "POST":
        detail = "Remove the sample with the button on its overview."
        raise Problem("method-not-allowed", detail, headers={"Allow": "POST"})
    workspace = get_object_or_404(list_workspaces(request.user), slug=slug)
    if not may_remove_sample(request, workspace):
        raise Http404
    sample.forget_keys()
    hide_workspace(workspace, actor=request.user.get_username(), now=timezone.now())
    wake_worker.send_after_commit(delete_workspace, workspace.pk)
    return redirect("home")
