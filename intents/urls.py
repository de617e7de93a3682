from intents import views
from workspaces.pages import page_paths

urlpatterns = [
    *page_paths("rejections", views.rejections),
]
