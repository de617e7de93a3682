"""Every address of the hub: the machines' under /api/, the pages under /w/<workspace>/<environment>/."""

from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView

from hub import health, sample_page, views
from wire.read_only import read_only
from workspaces.pages import page_paths

urlpatterns = [
    path("api/", include("hub.api_urls")),
    path("api/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("api/docs", read_only(views.api_docs), name="api-docs"),
    path("healthz", read_only(health.healthz), name="healthz"),
    path("readyz", read_only(health.readyz), name="readyz"),
    path("", include("workspaces.urls")),
    *page_paths("overview", views.overview),
    path("w/<slug:slug>/remove-sample", sample_page.remove_sample, name="remove-sample"),
    path("", include("catalog.urls")),
    path("", include("outcomes.urls")),
    path("", include("intents.urls")),
]

handler400 = "wire.failures.bad_request"
