"""The pages of the catalog, and the actions of editors on them.

The pages Catalog and Operation are in `hub.urls`, because they also show verifications of intents.
"""

from django.urls import path

from catalog.browse.properties import views as property_views
from catalog.change_page import post_views as change_post_views
from catalog.change_page import views as change_views
from catalog.drift import views as drift_views
from catalog.drift.environment_comparison import views as comparison_views
from catalog.rules import post_views
from catalog.rules import views as rules_views
from workspaces.pages.answers import page_paths

OPERATION_PATH = "w/<slug:slug>/<str:environment>/operation"
CHANGE_PATH = "w/<slug:slug>/<str:environment>/change/<int:pk>"
RULES_PATH = "w/<slug:slug>/<str:environment>/rules"

urlpatterns = [
    *page_paths("property", property_views.show_property),
    *page_paths("drift", drift_views.show_drift, is_shareable=True),
    *page_paths("change", change_views.show_change),
    *page_paths("difference", comparison_views.show_environment_comparison),
    *page_paths("rules", rules_views.show_rules),
    path(f"{CHANGE_PATH}/acknowledgement", change_post_views.post_acknowledgement, name="acknowledge-change"),
    path(f"{CHANGE_PATH}/mute", change_post_views.post_mute, name="mute-change"),
    path(f"{OPERATION_PATH}/template", post_views.post_template_rule, name="show-under"),
    path(f"{RULES_PATH}/redaction", post_views.post_redaction_rule, name="add-redaction-rule"),
    path(f"{RULES_PATH}/<slug:kind>/<int:pk>/undo", post_views.post_undo, name="undo-rule"),
    path(f"{OPERATION_PATH}/baseline", post_views.post_baseline_reset, name="reset-baseline"),
    path(f"{OPERATION_PATH}/maps", post_views.post_map_rule, name="show-as"),
    path(f"{OPERATION_PATH}/hints", post_views.post_hint_rule, name="set-hint"),
]
