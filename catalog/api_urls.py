from django.urls import path

from catalog import api

urlpatterns = [
    path("witness-reports", api.WitnessReports.as_view(), name="witness-reports"),
    path("catalog", api.Catalog.as_view(), name="api-catalog"),
]
