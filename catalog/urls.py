"""The pages of the catalog, and what is done by hand on them."""

from django.urls import path

from catalog import by_hand, drift_pages, views
from workspaces.pages import page_paths

OPERATION = "w/<slug:slug>/<str:environment>/operation"

urlpatterns = [
    *page_paths("catalog", views.catalog),
    *page_paths("operation", views.operation),
    *page_paths("drift", drift_pages.drift),
    *page_paths("difference", drift_pages.environments),
    path(f"{OPERATION}/afresh", by_hand.start_afresh, name="start-afresh"),
    path(f"{OPERATION}/afresh/<int:epoch>/take-back", by_hand.take_back, name="take-back-fresh-start"),
]
