"""Collect the stored data of one conversation id in one environment, as a sequence of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from outcomes.broken_joins.causes.diagnose import Diagnosis
from outcomes.broken_joins.causes.groups import BrokenJoin
from outcomes.broken_joins.diagnosed_joins import diagnose_ids, list_environment_names, list_joins_naming
from outcomes.broken_joins.queries import list_api_keys
from outcomes.models import Conversation, MovedOutcome, Outcome
from outcomes.tallies.moved_counts import ANOTHER
from workspaces.models import ApiKey, Environment

MAX_LISTED_MOVES = 50
SAME_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True)
class ConversationEvent:
    """Something that happened to a conversation.

    outcome: the outcome key, "" for none.
    by: the person who did it, or the first characters of the API key; api_key is the row of that key.
    """

    at: datetime
    event: str
    outcome: str = ""
    detail: str = ""
    by: str = ""
    is_bad: bool = False
    api_key: ApiKey | None = None

    def to_row(self) -> Sequence[Any]:
        return (self.at, self.event, self.outcome, self.detail, self.by, self.is_bad)


@dataclass(frozen=True)
class ConversationDetail:
    """A conversation with its outcomes. While it is not registered, they are broken joins.

    diagnosis: why it is not known; None if it is.
    match: the known conversation that was probably meant, if any.
    naming: if it is known, the broken joins that probably mean it, each with its environment.
    api_keys: the API keys of the workspace by row id.
    environments: the environments that the reader may see, by row id.
    """

    conversation: Conversation
    outcomes: Sequence[Outcome]
    moves: Sequence[MovedOutcome]
    diagnosis: Diagnosis | None
    match: Conversation | None
    naming: Sequence[tuple[Environment, BrokenJoin]]
    api_keys: Mapping[int | None, ApiKey]
    environments: Mapping[int, Environment]

    @property
    def is_known(self) -> bool:
        return self.conversation.started_at is not None

    def list_events(self, name_environment: Callable[[Environment], str]) -> list[ConversationEvent]:
        """Return the events, earliest first.

        name_environment: how the details name an environment: `str` for people, by its label.
        """
        return sorted(self._describe(name_environment), key=lambda event: event.at)

    def _describe(self, name_environment: Callable[[Environment], str]) -> Iterator[ConversationEvent]:
        yield from self._describe_arrival()
        if self.match and self.match.started_at:
            yield self._describe_match(self.match, self.match.started_at, name_environment(self.match.environment))
        for outcome in self.outcomes:
            yield from self._describe_outcome(outcome)
        for moved_outcome in self.moves:
            move = moved_outcome.move
            source = self.environments.get(move.source_id)
            detail = f"from {name_environment(source) if source else ANOTHER}"
            yield ConversationEvent(move.moved_at, "moved here", moved_outcome.outcome_key, detail, move.moved_by)

        for sibling, join in self.naming:
            api_key = self.api_keys.get(join.reported_by)
            detail = f"as {join.conversation_id} in {name_environment(sibling)}, a broken join"
            yield ConversationEvent(
                join.first_reported_at, "first reported", join.outcome_key, detail, str(api_key or ""), True, api_key
            )

    def _describe_arrival(self) -> Iterator[ConversationEvent]:
        """Describe start and registration; as one event if they are less than SAME_MOMENT apart."""
        started_at, registered_at = self.conversation.started_at, self.conversation.registered_at
        if started_at and registered_at and abs(registered_at - started_at) < SAME_MOMENT:
            yield ConversationEvent(started_at, "started and registered")
            return
        if started_at:
            yield ConversationEvent(started_at, "started")
        if registered_at:
            yield ConversationEvent(registered_at, "registered")

    def _describe_match(self, match: Conversation, started_at: datetime, environment: str) -> ConversationEvent:
        """Describe the start of the conversation that was meant, which has the same id elsewhere, or another id."""
        location = f"in {environment}"
        if match.conversation_id == self.conversation.conversation_id:
            return ConversationEvent(started_at, f"started {location}", detail="under the same id")
        return ConversationEvent(
            started_at, f"probably meant: a conversation that started {location}", detail=match.conversation_id
        )

    def _describe_outcome(self, outcome: Outcome) -> Iterator[ConversationEvent]:
        api_key = self.api_keys.get(outcome.reported_by)
        key_name = str(api_key or "")
        was_broken = outcome.broken or outcome.healed_at is not None
        detail = "the conversation was not known" if was_broken else ""
        yield ConversationEvent(
            outcome.first_reported_at, "first reported", outcome.outcome_key, detail, key_name, was_broken, api_key
        )
        if outcome.reports > 1:
            detail = f"{outcome.reports:,} reports in all"
            yield ConversationEvent(outcome.last_reported_at, "last reported", outcome.outcome_key, detail)
        if outcome.healed_at:
            yield ConversationEvent(outcome.healed_at, "healed", outcome.outcome_key, "the conversation arrived")


def find_conversation(environment: Environment, conversation_id: str) -> ConversationDetail | None:
    """Return what is stored about an id; None if it was neither registered nor reported in this environment."""
    rows = Conversation.objects.filter(environment=environment, conversation_id=conversation_id)
    conversation = rows.first() if conversation_id else None
    if conversation is None:
        return None
    outcomes = Outcome.objects.filter(environment=environment, conversation_id=conversation.pk)
    outcome_rows = list(outcomes.order_by("first_reported_at", "outcome_key"))
    diagnosis = None if conversation.started_at else diagnose_id(environment, conversation_id)
    return ConversationDetail(
        conversation,
        outcome_rows,
        _list_moves(conversation) if any(outcome.moved_in for outcome in outcome_rows) else [],
        diagnosis,
        _find_match(environment, diagnosis) if diagnosis else None,
        list_joins_naming(environment, conversation_id) if conversation.started_at else [],
        list_api_keys(environment),
        {row.pk: row for row in environment.readable},
    )


def diagnose_id(environment: Environment, conversation_id: str) -> Diagnosis:
    """Return why this id is not known in this environment."""
    return diagnose_ids(environment, list_environment_names(environment), [conversation_id])[conversation_id]


def _find_match(environment: Environment, diagnosis: Diagnosis) -> Conversation | None:
    """Return the known conversation that a broken join probably means; None if there is none."""
    if diagnosis.match is None:
        return None
    rows = Conversation.objects.filter(
        environment__in=environment.readable,
        environment__name=diagnosis.match.environment,
        conversation_id=diagnosis.match.conversation_id,
    )
    return rows.select_related("environment").first()


def _list_moves(conversation: Conversation) -> list[MovedOutcome]:
    """Return the moves that brought outcomes to this conversation and were not undone."""
    moves = MovedOutcome.objects.filter(conversation=conversation, move__undone_at=None)
    return list(moves.select_related("move").order_by("pk")[:MAX_LISTED_MOVES])
