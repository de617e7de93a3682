"""The first page, new workspaces, people, and the pages of settings."""

from django.urls import path

from workspaces import views
from workspaces.annotations import views as annotations
from workspaces.models import Membership
from workspaces.pages.answers import page_paths
from workspaces.people import urls as people_urls
from workspaces.settings_pages import audit, environments, keys, members, refused_requests, secrets
from workspaces.shared_links import views as shared_links
from workspaces.shared_links.shared_page import show_shared_page

SETTINGS = "w/<slug:slug>/<str:environment>"

urlpatterns = [
    path("", views.home, name="home"),
    *people_urls.urlpatterns,
    path("workspaces/new", views.add_workspace, name="new-workspace"),
    path("workspaces/new/<slug:slug>", views.show_created_workspace, name="created-workspace"),
    path(f"{SETTINGS}/keys/create", keys.post_key, name="create-key"),
    path(f"{SETTINGS}/keys/<int:key_id>/revoke", keys.post_revocation, name="revoke-key"),
    path(f"{SETTINGS}/secrets/prepare", secrets.post_preparation, name="prepare-secret"),
    path(f"{SETTINGS}/secrets/activate", secrets.post_activation, name="activate-secret"),
    path(f"{SETTINGS}/secrets/<int:secret_id>/revoke", secrets.post_revocation, name="revoke-secret"),
    path(f"{SETTINGS}/environments/create", environments.post_environment, name="create-environment"),
    path(f"{SETTINGS}/environments/<str:name>/change", environments.post_change, name="change-environment"),
    path(f"{SETTINGS}/environments/<str:name>/archive", environments.post_archiving, name="archive-environment"),
    path(f"{SETTINGS}/environments/<str:name>/restore", environments.post_restoring, name="restore-environment"),
    path(f"{SETTINGS}/v1-window", environments.post_v1_window, name="set-v1-window"),
    *page_paths("annotations", annotations.show_annotations),
    path(f"{SETTINGS}/annotations/add", annotations.post_annotation, name="add-annotation"),
    path(f"{SETTINGS}/annotations/<uuid:annotation_id>/change", annotations.post_change, name="change-annotation"),
    path(f"{SETTINGS}/annotations/<uuid:annotation_id>/delete", annotations.post_deletion, name="delete-annotation"),
    *page_paths("shared-links", shared_links.show_links, role=Membership.EDITOR),
    path(f"{SETTINGS}/shared-links/add", shared_links.post_link, name="share-page"),
    path(f"{SETTINGS}/shared-links/<int:link_id>/revoke", shared_links.post_revocation, name="revoke-shared-link"),
    path("shared/<str:token>", show_shared_page, name="shared-page"),
    *page_paths("refused-requests", refused_requests.show_refused_requests, role=Membership.ADMIN),
    *page_paths("audit", audit.show_audit, role=Membership.ADMIN),
    *page_paths("members", members.show_members, role=Membership.ADMIN),
    path(f"{SETTINGS}/members/invite", members.post_invitation, name="invite-member"),
    path(f"{SETTINGS}/members/<int:user_id>/role", members.post_role, name="change-role"),
    path(f"{SETTINGS}/members/<int:user_id>/remove", members.post_removal, name="remove-member"),
    path(f"{SETTINGS}/invitations/<int:pk>/revoke", members.post_revocation, name="revoke-invitation"),
]
