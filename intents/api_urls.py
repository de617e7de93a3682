from django.urls import path

from intents import api

urlpatterns = [
    path("verification-reports", api.VerificationReports.as_view(), name="verification-reports"),
]
