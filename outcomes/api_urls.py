from django.urls import path

from outcomes.ingest import api

urlpatterns = [
    path("conversation-outcomes", api.ConversationOutcomes.as_view(), name="conversation-outcomes"),
    path("conversations", api.Conversations.as_view(), name="conversations"),
]
