from django.urls import path

from outcomes import joins_page, views
from workspaces.pages import page_paths

urlpatterns = [
    *page_paths("outcomes", views.outcomes),
    *page_paths("outcome", views.outcome),
    *page_paths("joins", joins_page.broken_joins),
    path("w/<slug:slug>/<str:environment>/joins/move", joins_page.move_joins, name="move-joins"),
    path("w/<slug:slug>/<str:environment>/joins/moves/<int:pk>/undo", joins_page.undo_move, name="undo-move"),
]
