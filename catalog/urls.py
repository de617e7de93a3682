"""The pages of the catalog, and what is done by hand on them."""

from django.urls import path

from catalog.browse import views
from catalog.drift import views as drift_views
from catalog.rules import actions, rule_actions
from catalog.rules import views as rules_views
from workspaces.page import page_paths

OPERATION = "w/<slug:slug>/<str:environment>/operation"
RULES = "w/<slug:slug>/<str:environment>/rules"

urlpatterns = [
    *page_paths("catalog", views.catalog),
    *page_paths("operation", views.operation),
    *page_paths("drift", drift_views.drift),
    *page_paths("difference", drift_views.difference),
    *page_paths("rules", rules_views.rules),
    path(f"{OPERATION}/template", rule_actions.show_under, name="show-under"),
    path(f"{RULES}/redaction", rule_actions.add_redaction, name="add-redaction-rule"),
    path(f"{RULES}/<slug:kind>/<int:pk>/take-back", rule_actions.take_back, name="take-back-rule"),
    path(f"{OPERATION}/afresh", actions.start_afresh, name="start-afresh"),
    path(f"{OPERATION}/maps", actions.show_as, name="show-as"),
]
