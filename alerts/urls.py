"""The addresses of alerts: pages for admins, and what their forms do."""

from django.urls import path

from alerts.pages import actions, views
from workspaces.models import Membership
from workspaces.pages.page import page_paths

ALERTS = "w/<slug:slug>/<str:environment>/alerts"
TARGETS = f"{ALERTS}/targets"

urlpatterns = [
    *page_paths("alerts", views.show_alerts, role=Membership.ADMIN),
    *page_paths("deliveries", views.show_deliveries, role=Membership.ADMIN),
    path(f"{ALERTS}/create", actions.post_alert, name="create-alert"),
    path(f"{ALERTS}/<int:pk>/change", actions.post_alert_change, name="change-alert"),
    path(f"{ALERTS}/<int:pk>/pause", actions.post_pause, name="pause-alert"),
    path(f"{ALERTS}/<int:pk>/resume", actions.post_resumption, name="resume-alert"),
    path(f"{ALERTS}/<int:pk>/delete", actions.post_deletion, name="delete-alert"),
    path(f"{TARGETS}/create", actions.post_target, name="create-target"),
    path(f"{TARGETS}/<int:pk>/change", actions.post_target_change, name="change-target"),
    path(f"{TARGETS}/<int:pk>/rotate", actions.post_rotation, name="rotate-webhook-secret"),
    path(f"{TARGETS}/<int:pk>/delete", actions.post_target_deletion, name="delete-target"),
    path(f"{TARGETS}/<int:pk>/test", actions.post_test, name="test-target"),
    path("w/<slug:slug>/<str:environment>/deliveries/<int:pk>/again", actions.post_again, name="send-again"),
]
