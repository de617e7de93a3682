"""The pages of the catalog, and what is done by hand on them."""

from django.urls import path

from catalog import by_hand, drift_pages, rules_by_hand, rules_page, views
from workspaces.pages import page_paths

OPERATION = "w/<slug:slug>/<str:environment>/operation"
RULES = "w/<slug:slug>/<str:environment>/rules"

urlpatterns = [
    *page_paths("catalog", views.catalog),
    *page_paths("operation", views.operation),
    *page_paths("drift", drift_pages.drift),
    *page_paths("difference", drift_pages.environments),
    *page_paths("rules", rules_page.rules),
    path(f"{OPERATION}/template", rules_by_hand.show_under, name="show-under"),
    path(f"{RULES}/redaction", rules_by_hand.add_redaction, name="add-redaction-rule"),
    path(f"{RULES}/<slug:kind>/<int:pk>/take-back", rules_by_hand.take_back, name="take-back-rule"),
    path(f"{OPERATION}/afresh", by_hand.start_afresh, name="start-afresh"),
    path(f"{OPERATION}/maps", by_hand.show_as, name="show-as"),
]
