"""The first page, and new workspaces."""

from __future__ import annotations

import re

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables

from workspaces.access import list_workspaces
from workspaces.create import create_workspace
from workspaces.errors import InvalidWorkspace
from workspaces.models import Workspace
from workspaces.pages.shown_once import keep_for_next_page, take_once
from workspaces.people.invitations.invite import list_invitations_of

NEW_WORKSPACE = "new workspace"


class WorkspaceForm(forms.Form):
    """A new workspace, and its environments besides production."""

    name = forms.CharField(max_length=Workspace.MAX_NAME, error_messages={"required": "Enter a name."})
    environments = forms.CharField(required=False)

    def clean_environments(self) -> list[str]:
        """Return the names between commas or white space, in their order, without repetition."""
        return list(dict.fromkeys(re.findall(r"[^\s,]+", self.cleaned_data["environments"])))


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the first workspace. Without one, operators get the form for it; others read whom to ask."""
    workspace = list_workspaces(request.user).first()
    if workspace:
        return redirect("overview", workspace.slug, "production")
    if request.user.is_superuser:
        return redirect("new-workspace")
    assert request.user.is_authenticated
    invitations = list_invitations_of(request.user, now=timezone.now())
    return render(request, "workspaces/no_workspace.html", {"invitations": invitations})


@never_cache
@login_required
@sensitive_variables("new_workspace")
def add_workspace(request: HttpRequest) -> HttpResponse:
    """Create a workspace; operators only. The page that it redirects to shows keys and signing secret once."""
    if not request.user.is_superuser:
        raise Http404
    form = WorkspaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        actor = request.user.get_username()
        try:
            new_workspace = create_workspace(**form.cleaned_data, actor=actor, now=timezone.now())
        except InvalidWorkspace as error:
            form.add_error(None, str(error))
        else:
            keep_for_next_page(request, NEW_WORKSPACE, new_workspace.as_json())
            return redirect("created-workspace", new_workspace.workspace.slug)
    is_first = not list_workspaces(request.user).exists()
    return render(request, "workspaces/new_workspace.html", {"form": form, "is_first": is_first})


@never_cache
@login_required
@sensitive_variables("workspace_facts")
def show_created_workspace(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the keys and the signing secret of a new workspace, once; after that, lead to its pages."""
    workspace_facts = take_once(request, NEW_WORKSPACE, slug=slug)
    if not workspace_facts:
        return redirect("overview", slug, "production")
    return render(request, "workspaces/workspace_created.html", {"created": workspace_facts[0]})
