from django.urls import path

from catalog.downloads import api
from catalog.downloads.witness_rules_api import WitnessRules
from catalog.ingest.api import WitnessReports

urlpatterns = [
    path("witness-reports", WitnessReports.as_view(), name="witness-reports"),
    path("witness-rules", WitnessRules.as_view(), name="witness-rules"),
    path("catalog", api.Catalog.as_view(), name="api-catalog"),
    path("catalog/openapi.json", api.OpenApi.as_view(), name="catalog-openapi"),
    path("catalog/schemas.json", api.Schemas.as_view(), name="catalog-schemas"),
    path("catalog/tools.json", api.Tools.as_view(), name="catalog-tools"),
    path("catalog/mcp.json", api.McpTools.as_view(), name="catalog-mcp"),
]
