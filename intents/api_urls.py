"""The machine endpoints of intents (contract §3)."""

from django.urls import path

from intents.gate.api import Confirmations, Decisions, Intents
from intents.reports.api import VerificationReports
from intents.verification.api import Verifications

urlpatterns = [
    path("verification-reports", VerificationReports.as_view(), name="verification-reports"),
    path("intents", Intents.as_view(), name="intents"),
    path("intents/verify", Verifications.as_view(), name="verify-intent"),
    path("confirmations", Confirmations.as_view(), name="confirmations-api"),
    path("confirmations/<str:confirmation_id>/decision", Decisions.as_view(), name="decide-confirmation-api"),
]
