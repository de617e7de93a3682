"""The pages of outcomes, and what is done on them."""

from django.urls import path

from outcomes.analytics import views as analytics
from outcomes.broken_joins import views as broken_joins
from workspaces.page import page_paths

JOINS = "w/<slug:slug>/<str:environment>/joins"

urlpatterns = [
    *page_paths("outcomes", analytics.outcomes),
    *page_paths("outcome", analytics.outcome),
    *page_paths("joins", broken_joins.broken_joins),
    path(f"{JOINS}/move", broken_joins.move_joins, name="move-joins"),
    path(f"{JOINS}/moves/<int:pk>/undo", broken_joins.undo_move, name="undo-move"),
]
