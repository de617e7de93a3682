"""The time range of a page, out of its address (pure): presets, a custom range, the zone, the period before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from wire.timestamps import EARLIEST

PRESETS: Mapping[str, tuple[str, timedelta | None]] = {
    "24h": ("24 h", timedelta(hours=24)),
    "7d": ("7 d", timedelta(days=7)),
    "30d": ("30 d", timedelta(days=30)),
    "90d": ("90 d", timedelta(days=90)),
    "12m": ("12 months", timedelta(days=365)),
    "all": ("all", None),
}
DEFAULT = "7d"
QUARTER = timedelta(minutes=15)


@dataclass(frozen=True)
class Period:
    """A half-open span of time [start, end) in one zone. `preset` is empty for a custom range.

    fault: what could not be read of the address; instead: what is shown in its place.
    """

    start: datetime
    end: datetime
    zone: ZoneInfo
    preset: str = ""
    fault: str = ""
    instead: str = ""

    @property
    def step(self) -> str:
        """What a chart's bucket is: "hour" up to two days, "day" up to 800 days, beyond that "month"."""
        if self.length <= timedelta(days=2):
            return "hour"
        return "day" if self.length <= timedelta(days=800) else "month"

    @property
    def length(self) -> timedelta:
        """As the zone's clocks and calendars tell it: a day is a day, whether it has 23, 24 or 25 hours."""
        return local(self.end, self.zone) - local(self.start, self.zone)

    def before(self) -> Period:
        """The period before: as many whole weeks earlier as the range takes up, so that weekdays match."""
        return replace(self, start=self.earlier(self.start), end=self.earlier(self.end), preset="")

    def earlier(self, at: datetime) -> datetime:
        """The moment of the period before that a moment of the range is compared with: at the same time of day."""
        return of_local(local(at, self.zone) - self.weeks, self.zone)

    @cached_property
    def weeks(self) -> timedelta:
        """Whole ones that the range takes up."""
        return timedelta(weeks=max(1, -(-self.length // timedelta(weeks=1))))


def parse_period(query: Mapping[str, str], *, now: datetime) -> Period:
    """Read `range`, or `from` and `to` (local dates or ISO times), and `tz`.

    What cannot be read falls back to the default and is said in `fault`: a page never fails over its address.
    """
    zone = zone_named(query.get("tz", ""))
    fault = ("", "") if zone else ("There is no such time zone", "times are in UTC")
    zone = zone or ZoneInfo("UTC")
    if query.get("from") or query.get("to"):
        custom = custom_range(query, zone, now)
        if custom:
            return replace(custom, fault=fault[0], instead=fault[1])
        fault = "The custom range could not be read", "the last 7 days are shown"
    preset = query.get("range", DEFAULT)
    if preset not in PRESETS:
        preset, fault = DEFAULT, ("There is no such range", "the last 7 days are shown")
    end = after(now)
    span = PRESETS[preset][1]
    start = EARLIEST if span is None else day_start(end - span, zone, span)
    return Period(start, end, zone, preset, *fault)


def local(at: datetime, zone: ZoneInfo) -> datetime:
    """What the zone's clocks and calendars show, without a zone."""
    return at.astimezone(zone).replace(tzinfo=None)


def of_local(shown: datetime, zone: ZoneInfo) -> datetime:
    """The first quarter hour, in UTC, at which the zone's clocks show this, or more where they skip it."""
    at = min(shown.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    while local(at, zone) < shown:
        at += QUARTER
    return at


def custom_range(query: Mapping[str, str], zone: ZoneInfo, now: datetime) -> Period | None:
    try:
        start = moment(query["from"], zone) if query.get("from") else EARLIEST
        end = moment(query["to"], zone, end_of_day=True) if query.get("to") else after(now)
    except (ValueError, OverflowError):
        return None
    return Period(floored(start), ceiled(end), zone) if EARLIEST <= start < end else None


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
    """Down to the quarter hour, in UTC: tallies are no finer."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)


def ceiled(at: datetime) -> datetime:
    """Up to the quarter hour, in UTC."""
    return floored(at + QUARTER - timedelta.resolution)


def after(now: datetime) -> datetime:
    """The end of the quarter hour that holds `now`."""
    return floored(now) + QUARTER


def zone_named(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
