"""A bare Django site for the adapter's tests where the hub's settings are absent; its database is SQLite."""

SECRET_KEY = "only for tests"
ALLOWED_HOSTS = ["*"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates"}]
USE_TZ = True
ROOT_URLCONF = "django_settings"  # tests that need addresses have their own URL configuration
urlpatterns: list[object] = []
