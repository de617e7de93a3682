"""The pages of intents, and what is done by hand on them."""

from django.urls import path

from intents import confirmation_pages, inspector_page, views
from workspaces.pages import page_paths

PAGE = "w/<slug:slug>/<str:environment>"

urlpatterns = [
    *page_paths("rejections", views.rejections),
    *page_paths("confirmations", confirmation_pages.confirmations),
    *page_paths("inspector", inspector_page.inspector),
    path(
        f"{PAGE}/confirmations/<uuid:confirmation_id>/decision",
        confirmation_pages.decision,
        name="decide-confirmation",
    ),
    path(f"{PAGE}/inspector/checks", inspector_page.checks, name="inspector-checks"),
]
