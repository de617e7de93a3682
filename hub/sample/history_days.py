"""How many days of history the sample workspace gets, and how many of them are still missing."""

from workspaces.models import SampleWorkspace, Workspace

HISTORY_DAYS = 30


def count_missing_days(workspace: Workspace) -> int:
    """Return how many days of a sample's history are still to be simulated; 0 for any other workspace."""
    days = SampleWorkspace.objects.filter(workspace=workspace).values_list("days", flat=True).first()
    return 0 if days is None else HISTORY_DAYS - days
