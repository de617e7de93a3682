"""The pages of intents, and what is done on them."""

from django.urls import path

from intents.gate import views as gate
from intents.rejections import views as rejections
from intents.verification import views as verification
from workspaces.page import page_paths

PAGE = "w/<slug:slug>/<str:environment>"

urlpatterns = [
    *page_paths("rejections", rejections.rejections),
    *page_paths("confirmations", gate.confirmations),
    *page_paths("inspector", verification.inspector),
    path(f"{PAGE}/confirmations/<uuid:confirmation_id>/decision", gate.decision, name="decide-confirmation"),
    path(f"{PAGE}/inspector/checks", verification.checks, name="inspector-checks"),
]
