from outcomes import views
from workspaces.pages import page_paths

urlpatterns = [
    *page_paths("outcomes", views.outcomes),
    *page_paths("joins", views.broken_joins),
]
