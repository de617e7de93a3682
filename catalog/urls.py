from catalog import views
from workspaces.pages import page_paths

urlpatterns = [
    *page_paths("catalog", views.catalog),
    *page_paths("operation", views.operation),
]
