"""The addresses of the machine API, listed by app."""

from django.urls import include, path

urlpatterns = [
    path("", include("catalog.api_urls")),
    path("", include("outcomes.api_urls")),
    path("", include("intents.api_urls")),
    path("", include("workspaces.api_urls")),
]
