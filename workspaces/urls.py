"""Signing in and out, the first page, and new workspaces."""

from django.urls import path

from workspaces import views
from workspaces.models import Membership
from workspaces.page import page_paths
from workspaces.settings_pages import keys

SETTINGS = "w/<slug:slug>/<str:environment>"

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-in/<str:token>", views.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out", views.sign_out, name="sign-out"),
    path("workspaces/new", views.add_workspace, name="new-workspace"),
    path("workspaces/new/<slug:slug>", views.show_created_workspace, name="created-workspace"),
    *page_paths("keys", keys.show_keys, role=Membership.ADMIN),
    path(f"{SETTINGS}/keys/create", keys.post_key, name="create-key"),
    path(f"{SETTINGS}/keys/<int:key_id>/revoke", keys.post_revocation, name="revoke-key"),
]
