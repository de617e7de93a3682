"""Serializer fields that take exactly what contract §1 names: no trimming, no coercion."""

import math
import re
import uuid
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from affidavit import whole_number
from wire.time.timestamps import is_reportable, moment_from_unix, unix_seconds

MAX_COUNT = 2**53
UUID_FORM = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class Form(serializers.Serializer[Any]):
    """The base of every body, and of every object in it."""

    default_error_messages = {"invalid": "Send an object."}


class ExactText(serializers.CharField):
    """A string of 1 to `max_length` code points, stored exactly as sent. Numbers are refused."""

    default_error_messages = {"invalid": "Send a string."}

    def __init__(self, *, max_length: int | None, **options: Any) -> None:
        super().__init__(max_length=max_length, trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Count(serializers.IntegerField):
    """A whole number from `min_value` (1) to 2^53; 2.0 is the number 2."""

    default_error_messages = {"invalid": "Send an integer."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": MAX_COUNT, **options})

    def to_internal_value(self, data: Any) -> int:
        number = whole_number(data)
        if number is None:
            self.fail("invalid")
        return super().to_internal_value(number)


class Flag(serializers.BooleanField):
    """JSON true or false, and nothing that only resembles them."""

    default_error_messages = {"invalid": "Send true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


@extend_schema_field(OpenApiTypes.DOUBLE)
class Moment(serializers.Field[Any, Any, Any, Any]):
    """A reported time: Unix seconds, or milliseconds from 1e11 on; between 2000 and a day ahead."""

    default_error_messages = {
        "invalid": "Send Unix seconds (or milliseconds) as a number.",
        "out-of-range": "Send a time between the year 2000 and one day from now.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        if type(data) not in (int, float):
            self.fail("invalid")
        try:
            if not math.isfinite(data):  # OverflowError for an integer that no float can hold
                self.fail("invalid")
            moment = moment_from_unix(data)
        except (ValueError, OverflowError, OSError):
            self.fail("out-of-range")
        if not is_reportable(moment, timezone.now()):
            self.fail("out-of-range")
        return moment

    def to_representation(self, value: datetime) -> int:
        return unix_seconds(value)


@extend_schema_field(OpenApiTypes.UUID)
class UuidText(serializers.Field[Any, Any, Any, Any]):
    """A UUID in its usual text form, upper or lower case."""

    default_error_messages = {"invalid": "Send a UUID as text, such as 00000000-0000-4000-8000-000000000000."}

    def to_internal_value(self, data: Any) -> uuid.UUID:
        if not isinstance(data, str) or not UUID_FORM.fullmatch(data):
            self.fail("invalid")
        return uuid.UUID(data)


class EnvironmentName(serializers.CharField):
    """The optional `environment` of a body. Whether it exists is checked after the body's form (contract §1)."""

    default_error_messages = {"invalid": "Send a string."}

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            default="production",
            allow_blank=True,
            trim_whitespace=False,
            **{"help_text": "The environment's name. Default: production.", **options},
        )

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data
