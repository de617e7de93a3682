from django.urls import path

from workspaces.annotations import api

urlpatterns = [path("annotations", api.Annotations.as_view(), name="api-annotations")]
