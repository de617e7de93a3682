"""Every address of the hub: the machines' under /api/, the pages under /w/<workspace>/<environment>/."""

from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView

from hub import health
from hub.overview import views as overview
from hub.sample import views as sample
from wire.http.read_only import read_only
from workspaces.page import page_paths

urlpatterns = [
    path("api/", include("hub.api_urls")),
    path("api/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("api/docs", read_only(overview.api_docs), name="api-docs"),
    path("healthz", read_only(health.healthz), name="healthz"),
    path("readyz", read_only(health.readyz), name="readyz"),
    path("", include("workspaces.urls")),
    *page_paths("overview", overview.overview),
    path("w/<slug:slug>/remove-sample", sample.remove_sample, name="remove-sample"),
    path("", include("catalog.urls")),
    path("", include("outcomes.urls")),
    path("", include("intents.urls")),
]

handler400 = "wire.http.failures.bad_request"
handler429 = "workspaces.people.throttle.refuse_attempt"
