"""The time range of a page, out of its address (pure): presets, a custom range, the zone, the period before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

PRESETS: Mapping[str, tuple[str, timedelta | None]] = {
    "24h": ("24 h", timedelta(hours=24)),
    "7d": ("7 d", timedelta(days=7)),
    "30d": ("30 d", timedelta(days=30)),
    "90d": ("90 d", timedelta(days=90)),
    "12m": ("12 months", timedelta(days=365)),
    "all": ("all", None),
}
DEFAULT = "7d"
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # no reported time is earlier (contract 1)
QUARTER = timedelta(minutes=15)


@dataclass(frozen=True)
class Range:
    """A half-open span of time [start, end) in one zone. `preset` is empty for a custom range."""

    start: datetime
    end: datetime
    zone: ZoneInfo
    preset: str = ""
    fault: str = ""

    @property
    def step(self) -> str:
        """What a chart's bucket is: "hour" up to two days, "day" up to 800 days, beyond that "month"."""
        length = self.end - self.start
        if length <= timedelta(days=2):
            return "hour"
        return "day" if length <= timedelta(days=800) else "month"

    def before(self) -> Range:
        """The period before, of the same length rounded up to whole weeks, so that weekdays match."""
        length = self.end - self.start
        shift = length if length < timedelta(days=1) else timedelta(weeks=-(-length // timedelta(weeks=1)))
        if length <= timedelta(days=1):
            shift = timedelta(weeks=1)
        return replace(self, start=self.start - shift, end=self.end - shift, preset="")


def parse(query: Mapping[str, str], *, now: datetime) -> Range:
    """Read `range`, or `from` and `to` (local dates or ISO times), and `tz`.

    What cannot be read falls back to the default and is said in `fault`: a page never fails over its address.
    """
    zone, fault = zone_named(query.get("tz", ""))
    if query.get("from") or query.get("to"):
        custom = custom_range(query, zone, now)
        if custom:
            return replace(custom, fault=fault)
        fault = "The custom range could not be read; the last 7 days are shown."
    preset = query.get("range", DEFAULT)
    if preset not in PRESETS:
        preset, fault = DEFAULT, "There is no such range; the last 7 days are shown."
    end = after(now)
    span = PRESETS[preset][1]
    start = BEGINNING if span is None else day_start(end - span, zone, span)
    return Range(start, end, zone, preset, fault)


def custom_range(query: Mapping[str, str], zone: ZoneInfo, now: datetime) -> Range | None:
    try:
        start = moment(query["from"], zone) if query.get("from") else BEGINNING
        end = moment(query["to"], zone, end_of_day=True) if query.get("to") else after(now)
    except (ValueError, OverflowError):
        return None
    return Range(floored(start), end, zone) if BEGINNING <= start < end else None


def moment(text: str, zone: ZoneInfo, *, end_of_day: bool = False) -> datetime:
    """A local date (its first moment, or the first after it) or an ISO time."""
    parsed = datetime.fromisoformat(text)
    if len(text) <= 10 and end_of_day:
        parsed += timedelta(days=1)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)).astimezone(UTC)


def day_start(at: datetime, zone: ZoneInfo, span: timedelta) -> datetime:
    """Ranges of days begin with a local day, so that the first bar of a chart is a whole one."""
    if span <= timedelta(days=1):
        return floored(at)
    local_day = (at.astimezone(zone) + timedelta(days=1)).date()
    return datetime.combine(local_day, time(), zone).astimezone(UTC)


def floored(at: datetime) -> datetime:
    """Down to the quarter hour: tallies are no finer."""
    return at - timedelta(minutes=at.minute % 15, seconds=at.second, microseconds=at.microsecond)


def after(now: datetime) -> datetime:
    """The end of the quarter hour that holds `now`."""
    return floored(now.astimezone(UTC)) + QUARTER


def zone_named(name: str) -> tuple[ZoneInfo, str]:
    if not name:
        return ZoneInfo("UTC"), ""
    try:
        return ZoneInfo(name), ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC"), "There is no such time zone; times are in UTC."
