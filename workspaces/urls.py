"""Signing in and out, the first page, and new workspaces."""

from django.urls import path

from workspaces import views

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-in/<str:token>", views.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out", views.sign_out, name="sign-out"),
    path("workspaces/new", views.add_workspace, name="new-workspace"),
]
