from django.urls import path

from intents.gate import api
from intents.reports.api import VerificationReports
from intents.verification.api import Verifications

urlpatterns = [
    path("verification-reports", VerificationReports.as_view(), name="verification-reports"),
    path("intents", api.Intents.as_view(), name="intents"),
    path("intents/verify", Verifications.as_view(), name="verify-intent"),
    path("confirmations", api.Confirmations.as_view(), name="confirmations-api"),
    path("confirmations/<str:confirmation_id>/decision", api.Decisions.as_view(), name="decide-confirmation-api"),
]
