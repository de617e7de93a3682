"""The pages of intents, and the forms on them."""

from django.urls import path

from intents.gate import views as gate
from intents.rejections.detail import views as rejection_detail
from intents.verification import views as verification
from workspaces.pages.answers import page_paths

PAGE = "w/<slug:slug>/<str:environment>"

urlpatterns = [
    *page_paths("rejection", rejection_detail.show_rejection),
    *page_paths("confirmations", gate.show_confirmations, is_current=True),
    *page_paths("inspector", verification.show_inspector, is_current=True),
    path(f"{PAGE}/confirmations/<uuid:confirmation_id>/decision", gate.decide, name="decide-confirmation"),
    path(f"{PAGE}/inspector/checks", verification.check, name="inspector-checks"),
]
