"""The error for what one environment does not have, and others of the workspace may have."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.text import get_text_list

from wire.errors import NotFound
from workspaces.models import Environment


class NotFoundHere(NotFound):
    """Nothing of this name is stored in the environment of a page. The page of the failure links to those that have it.

    words: what is not found.
    environments: the other environments that have it, of those that the reader may see.
    advice: what else to do.
    """

    def __init__(self, words: str, environments: Iterable[Environment], advice: str = "") -> None:
        known_in = list(environments)
        labels = get_text_list([str(environment) for environment in known_in], "and")
        super().__init__(" ".join(filter(None, (words, labels and f"It is known in {labels}.", advice))))
        self.known_in = [environment.name for environment in known_in]
