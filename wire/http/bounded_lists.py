"""Lists in bodies: how many items a batch may have, and when checking stops (contract §1)."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rest_framework import serializers

from affidavit import Json
from wire.errors import MAX_FAULTS
from wire.http.fields import Form
from wire.http.problems import Problem, flatten_faults

MAX_ITEMS = 500  # of a batch


class BoundedList(serializers.ListSerializer[Any]):
    """Items of a batch. The answer lists at most MAX_FAULTS faults, so checking stops once there are more."""

    default_error_messages = {"not_a_list": "Send an array."}

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            return list(super().to_internal_value(data))
        items: list[Any] = []
        errors: dict[str, Any] = {}
        faults = 0
        for index, item in enumerate(data):
            try:
                items.append(self.run_child_validation(item))
            except serializers.ValidationError as error:
                errors[str(index)] = error.detail
                faults += sum(1 for _ in islice(flatten_faults(error.detail), MAX_FAULTS + 1))
                if faults > MAX_FAULTS:
                    break
        if errors:
            raise serializers.ValidationError(errors)
        return items


class BatchItem(Form):
    """The base of every item of a batch: `Item(many=True)` is a BoundedList."""

    class Meta:
        list_serializer_class = BoundedList


def check_batch_size(body: Json, items: str) -> None:
    """Count the items before any is checked, whatever else is wrong. Raises Problem `batch-too-large`.

    items: the name of the member that is the batch.
    """
    batch = body.get(items) if isinstance(body, dict) else None
    item_count = len(batch) if isinstance(batch, list) else 0
    if item_count > MAX_ITEMS:
        detail = f"Send at most {MAX_ITEMS} items in one request; split the batch. Nothing was stored."
        raise Problem("batch-too-large", detail, extra={"limit": MAX_ITEMS, "received": item_count})
