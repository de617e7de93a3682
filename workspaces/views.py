"""Signing in and out, the first page, and new workspaces."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from wire.http.problems import Problem
from workspaces.access import list_workspaces
from workspaces.create import create_workspace
from workspaces.environments.add import InvalidWorkspace
from workspaces.forms import SignInForm, WorkspaceForm
from workspaces.people.sign_in_links import find_link_user, use_link
from workspaces.shown_once import keep_for_next_page, take_once

NEW_WORKSPACE = "new workspace"
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the first workspace; without one, to the form that creates it or a page that says whom to ask."""
    workspace = list_workspaces(request.user).first()
    if workspace:
        return redirect("overview", workspace.slug, "production")
    return redirect("new-workspace") if request.user.is_superuser else render(request, "workspaces/none.html")


@never_cache
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    target = _safe_target(request)
    if request.user.is_authenticated:
        return redirect(target)
    form = SignInForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(target)
    return render(request, "workspaces/sign_in.html", {"form": form, "target": target})


@never_cache
@sensitive_variables("token")
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button on GET, sign in on POST: software that previews links must not use them up."""
    now = timezone.now()
    if request.method != "POST":
        return render(request, "workspaces/sign_in_link.html", {"link_user": find_link_user(token, now=now)})
    user = use_link(token, now=now)
    if user is None:
        return render(request, "workspaces/sign_in_link.html", {"link_user": None}, status=410)
    login(request, user, backend=MODEL_BACKEND)
    return redirect("home")


def sign_out(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        detail = "Sign out with the button of a page."
        raise Problem("method-not-allowed", detail, headers={"Allow": "POST"})
    logout(request)
    return redirect("sign-in")


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
    return render(request, "workspaces/new.html", {"form": form, "is_first": is_first})


@never_cache
@login_required
@sensitive_variables("created")
def show_created_workspace(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the keys and the signing secret of a new workspace, once; after that, lead to its pages."""
    created = take_once(request, NEW_WORKSPACE)
    if created is None or created["slug"] != slug:
        return redirect("overview", slug, "production")
    return render(request, "workspaces/created.html", {"created": created})


def _safe_target(request: HttpRequest) -> str:
    """Return where to go after signing in: `next`, if it is an address of this hub."""
    target = request.POST.get("next") or request.GET.get("next") or "/"
    is_safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if is_safe else "/"
