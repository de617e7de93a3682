from django.urls import path

from intents import api, gate_api

urlpatterns = [
    path("verification-reports", api.VerificationReports.as_view(), name="verification-reports"),
    path("intents", gate_api.Intents.as_view(), name="intents"),
    path("intents/verify", gate_api.Verifications.as_view(), name="verify-intent"),
    path("confirmations", gate_api.Confirmations.as_view(), name="confirmations-api"),
    path("confirmations/<str:confirmation_id>/decision", gate_api.Decisions.as_view(), name="decide-confirmation-api"),
]
