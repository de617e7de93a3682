"""The addresses of alerts: pages for admins, and what their forms do."""

from django.urls import path

from alerts.pages import deliveries, post_views, views
from workspaces.models import Membership
from workspaces.pages.answers import page_paths

ALERTS = "w/<slug:slug>/<str:environment>/alerts"
TARGETS = f"{ALERTS}/targets"

urlpatterns = [
    *page_paths("alerts", views.show_alerts, role=Membership.ADMIN),
    *page_paths("deliveries", deliveries.show_deliveries, role=Membership.ADMIN),
    path(f"{ALERTS}/create", post_views.post_alert, name="create-alert"),
    path(f"{ALERTS}/<int:pk>/change", post_views.post_alert_change, name="change-alert"),
    path(f"{ALERTS}/<int:pk>/pause", post_views.post_pause, name="pause-alert"),
    path(f"{ALERTS}/<int:pk>/resume", post_views.post_resumption, name="resume-alert"),
    path(f"{ALERTS}/<int:pk>/delete", post_views.post_deletion, name="delete-alert"),
    path(f"{TARGETS}/create", post_views.post_target, name="create-target"),
    path(f"{TARGETS}/<int:pk>/change", post_views.post_target_change, name="change-target"),
    path(f"{TARGETS}/<int:pk>/rotate", post_views.post_rotation, name="rotate-webhook-secret"),
    path(f"{TARGETS}/<int:pk>/delete", post_views.post_target_deletion, name="delete-target"),
    path(f"{TARGETS}/<int:pk>/test", post_views.post_test, name="test-target"),
    path("w/<slug:slug>/<str:environment>/deliveries/<int:pk>/again", post_views.post_again, name="send-again"),
]
