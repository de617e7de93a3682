"""Give each test its own objects of the rows that its module made."""

from __future__ import annotations

from dataclasses import replace

from workspaces.create import NewWorkspace
from workspaces.models import Workspace


def reload_workspace(created: NewWorkspace) -> NewWorkspace:
    """Return a workspace with its row read anew, so that no test changes an object that another test uses."""
    return replace(created, workspace=Workspace.objects.get(pk=created.workspace.pk))
