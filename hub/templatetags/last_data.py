"""When the last data of each environment came, for the page of environments."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.template import Context

from hub.last_data.queries import LastData
from hub.last_data.queries import read_last_data as read_last_data_of_workspace

register = template.Library()


@register.simple_tag(takes_context=True)
def read_last_data(context: Context) -> Sequence[LastData]:
    """Return the last data of each environment of the workspace."""
    return read_last_data_of_workspace(context["workspace"])
