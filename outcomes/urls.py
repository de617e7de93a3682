"""The pages of outcomes, and the actions on them."""

from django.urls import path

from outcomes.analytics.views import show_outcome_key, show_outcomes
from outcomes.broken_joins.moves.post_views import post_move, post_undo
from outcomes.broken_joins.views import show_broken_joins
from outcomes.conversations.views import show_conversation
from workspaces.pages.answers import page_paths

JOINS = "w/<slug:slug>/<str:environment>/joins"

urlpatterns = [
    *page_paths("outcomes", show_outcomes, is_shareable=True),
    *page_paths("outcome", show_outcome_key, is_shareable=True),
    *page_paths("conversation", show_conversation),
    *page_paths("joins", show_broken_joins, is_shareable=True),
    path(f"{JOINS}/move", post_move, name="move-joins"),
    path(f"{JOINS}/moves/<int:pk>/undo", post_undo, name="undo-move"),
]
