"""Every address of the hub: the machine API under /api/, the pages under /w/<workspace>/<environment>/."""

from django.urls import include, path

from hub import health
from hub.api_docs import views as api_docs
from hub.calls_not_accepted import views as calls_not_accepted
from hub.glossary.views import show_glossary
from hub.metrics.views import metrics
from hub.overview import views as overview
from hub.retention import views as retention
from hub.sample import views as sample
from hub.search.views import show_search
from hub.settings_pages import views as settings_pages
from hub.verified_operations import views as verified_operations
from wire.http.read_only import read_only
from workspaces.models import Membership
from workspaces.pages.answers import page_paths

urlpatterns = [
    path("api/", include("hub.api_urls")),
    path("api/openapi.json", read_only(api_docs.show_document), name="openapi"),
    path("api/docs", read_only(api_docs.find_api_docs), name="api-docs"),
    path("healthz", read_only(health.healthz), name="healthz"),
    path("readyz", read_only(health.readyz), name="readyz"),
    path("metrics", read_only(metrics), name="metrics"),
    path("", include("workspaces.urls")),
    *page_paths("overview", overview.overview, is_shareable=True),
    *page_paths("catalog", verified_operations.show_catalog, is_shareable=True),
    *page_paths("operation", verified_operations.show_operation),
    *page_paths("rejections", calls_not_accepted.show_rejections, is_shareable=True),
    *page_paths("toolcall", calls_not_accepted.show_tool_call),
    *page_paths("toolcalls", calls_not_accepted.show_tool_calls),
    *page_paths("keys", settings_pages.show_keys, role=Membership.ADMIN),
    *page_paths("environments", settings_pages.show_environments, role=Membership.ADMIN),
    *page_paths("secrets", settings_pages.show_secrets, role=Membership.ADMIN),
    *page_paths("search", show_search),
    *page_paths("api", api_docs.show_api_docs),
    *page_paths("glossary", show_glossary),
    *page_paths("retention", retention.show_retention, role=Membership.ADMIN),
    path("w/<slug:slug>/<str:environment>/retention/days", retention.post_days, name="change-retention"),
    path("w/<slug:slug>/<str:environment>/retention/deletions", retention.post_deletion, name="delete-subject"),
    path("w/<slug:slug>/remove-sample", sample.remove_sample, name="remove-sample"),
    path("", include("catalog.urls")),
    path("", include("outcomes.urls")),
    path("", include("intents.urls")),
    path("", include("alerts.urls")),
]

handler400 = "wire.http.failure_middleware.bad_request"
handler500 = "wire.http.failure_middleware.answer_uncaught_error"
handler429 = "workspaces.people.attempt_counts.refuse_attempt"
