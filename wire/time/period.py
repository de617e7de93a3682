"""The period of a page, read from its address (pure): presets, custom periods, the time zone, the period before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from zoneinfo import ZoneInfo, available_timezones

from wire.time.buckets import find_bucket_start, find_midnight, is_midnight
from wire.time.timestamps import EARLIEST

DEFAULT_PRESET, DEFAULT_LENGTH = "7d", timedelta(days=7)
PRESETS: Mapping[str, tuple[str, timedelta | None]] = {
    "24h": ("24 h", timedelta(hours=24)),
    DEFAULT_PRESET: ("7 d", DEFAULT_LENGTH),
    "30d": ("30 d", timedelta(days=30)),
    "90d": ("90 d", timedelta(days=90)),
    "12m": ("12 months", timedelta(days=365)),
    "all": ("all", None),
}
MAX_AHEAD = timedelta(days=36_525)  # how far in the future a period may end, because its length costs time
QUARTER = timedelta(minutes=15)
ONE_DAY = timedelta(days=1)


class UnusableDates(ValueError):
    """The dates of an address do not form a period. The text of the error is a sentence for people."""


@dataclass(frozen=True)
class Period:
    """A half-open span of time [start, end) in one zone. `preset` is empty for a custom period.

    faults: what is wrong with the address, in sentences.
    now: when the address was read; the period may end later.
    """

    start: datetime
    end: datetime
    zone: ZoneInfo
    preset: str = ""
    faults: tuple[str, ...] = ()
    now: datetime | None = None

    @property
    def elapsed_until(self) -> datetime:
        """Return the end of the period, or `now` if that is earlier."""
        return min(self.end, self.now or self.end)

    @property
    def step(self) -> str:
        """Return the size of a chart's bucket: "hour" up to two days, "day" up to 800 days, beyond that "month"."""
        if self.length <= timedelta(days=2):
            return "hour"
        return "day" if self.length <= timedelta(days=800) else "month"

    @property
    def length(self) -> timedelta:
        """Return the length by the zone's clocks: a day is a day, whether it has 23, 24 or 25 hours."""
        return to_local_time(self.end, self.zone) - to_local_time(self.start, self.zone)

    @property
    def local_ends(self) -> tuple[datetime, datetime]:
        return self.start.astimezone(self.zone), self.end.astimezone(self.zone)

    @property
    def is_current(self) -> bool:
        """Return whether the period ends after the moment at which its address was read."""
        return self.now is not None and self.end > self.now

    @property
    def compared_end(self) -> datetime:
        """Return the end of the part that is compared with the previous period.

        It is the end of the present quarter hour if the period goes on, otherwise the period's own end.
        """
        end = end_of_quarter(self.now) if self.now else self.end
        return end if self.start < end < self.end else self.end

    def previous(self) -> Period:
        """Return the period before this one, earlier by whole weeks, so that weekdays match.

        It has the same length. If this period goes on, it has the length of the part that is over.
        """
        return replace(self, start=self.shift_back(self.start), end=self.shift_back(self.compared_end), preset="")

    def find_neighbour(self, step: int, *, now: datetime) -> Period | None:
        """Return the earlier (step -1) or later (1) period of the same length; None before the year 2000 or after now.

        A period that begins at midnight and is longer than half a day, such as today until 15:00, counts as whole local
        days, and its neighbour is whole days too.
        """
        if self.start <= EARLIEST or (step > 0 and self.end >= now):
            return None
        first, last = self.local_ends
        length = self.end - self.start
        if is_midnight(first, self.zone) and length > ONE_DAY / 2:
            days = last.date() - first.date() + (timedelta() if is_midnight(last, self.zone) else ONE_DAY)
            first_date = first.date() + step * days
            if first_date <= EARLIEST.date():
                return None
            start, end = find_midnight(first_date, self.zone), find_midnight(first_date + days, self.zone)
        else:
            start, end = self.start + step * length, self.end + step * length
        return replace(self, start=start, end=end, preset="") if start > EARLIEST else None

    def has_data_before(self, first: datetime | None) -> bool:
        """Return whether data that begin at `first` (None: no data) reach into the previous period."""
        return first is not None and first < self.previous().end

    def begin_at(self, first: datetime | None) -> Period:
        """Return the part of the period from `first` on; the whole period for None."""
        return replace(self, start=min(max(self.start, first), self.end)) if first else self

    def begin_with_data(self, first: datetime | None) -> Period:
        """Return the part of the period that a chart shows, which begins with the bucket of the first data.

        The bucket is an hour, day or month of the zone, depending on the length of that part. A period that ends before
        the first data becomes empty; None (no data) leaves the period as it is.
        """
        if first is None or first <= self.start:
            return self
        if first >= self.end:
            return replace(self, start=self.end)
        starts = {step: find_bucket_start(first, self.zone, step) for step in ("hour", "day", "month")}
        parts = ((step, self.begin_at(start)) for step, start in starts.items())
        return next((part for step, part in parts if part.step == step), self)

    def shift_back(self, moment: datetime) -> datetime:
        """Return the moment of the previous period that `moment` is compared with: at the same time of day."""
        return from_local_time(to_local_time(moment, self.zone) - self.whole_weeks, self.zone)

    @cached_property
    def whole_weeks(self) -> timedelta:
        """Return the length, rounded up to whole weeks."""
        return timedelta(weeks=max(1, -(-self.length // timedelta(weeks=1))))


def parse_period(query: Mapping[str, str], *, now: datetime) -> Period:
    """Read `range`, or `from` and `to` (local dates or ISO times), and `tz`.

    What cannot be read falls back to the default and is named in `faults`: a page never fails because of its address.
    """
    zone = find_zone(query.get("tz", ""))
    faults = [] if zone else ["There is no such time zone."]
    zone = zone or ZoneInfo("UTC")
    if query.get("from") or query.get("to"):
        try:
            return replace(parse_custom_period(query, zone, now), faults=tuple(faults))
        except UnusableDates as fault:
            faults.append(str(fault))
    preset = query.get("range", DEFAULT_PRESET)
    if preset not in PRESETS:
        preset = DEFAULT_PRESET
        faults.append("There is no such range.")
    end = end_of_quarter(now)
    span = PRESETS[preset][1]
    start = EARLIEST if span is None else start_of_preset(now, zone, span)
    return Period(start, end, zone, preset, tuple(faults), now)


def to_local_time(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the local time in the zone, as a datetime without a zone."""
    return moment.astimezone(zone).replace(tzinfo=None)


def from_local_time(clock_time: datetime, zone: ZoneInfo) -> datetime:
    """Return the first quarter hour, in UTC, at which the zone's clocks show this time or a later one."""
    moment = min(clock_time.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    while to_local_time(moment, zone) < clock_time:
        moment += QUARTER
    return moment


def parse_custom_period(query: Mapping[str, str], zone: ZoneInfo, now: datetime) -> Period:
    """Read `from` (default: EARLIEST) and `to` (default: the end of this quarter hour). Raises UnusableDates."""
    try:
        start = parse_local_moment(query["from"], zone) if query.get("from") else EARLIEST
        end = parse_local_moment(query["to"], zone, end_of_day=True) if query.get("to") else end_of_quarter(now)
    except ValueError as error:
        raise UnusableDates("The dates could not be read; write them as 2026-11-23.") from error
    except OverflowError as error:
        raise UnusableDates("The dates are at the end of the calendar.") from error
    if start < EARLIEST:
        raise UnusableDates("The dates begin before the year 2000.")
    if end > now + MAX_AHEAD:
        raise UnusableDates("The dates end more than a hundred years from now.")
    if start >= end:
        raise UnusableDates("The dates end before they begin." if query.get("to") else "The dates begin in the future.")
    return Period(floor_to_quarter(start), ceil_to_quarter(end), zone, now=now)


def parse_local_moment(text: str, zone: ZoneInfo, *, end_of_day: bool = False) -> datetime:
    """Read an ISO time or a local date. A date means the start of its day, or with `end_of_day` the end.

    Raises ValueError.
    """
    moment = datetime.fromisoformat(text)
    if len(text) <= 10 and end_of_day:
        moment += timedelta(days=1)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def start_of_preset(now: datetime, zone: ZoneInfo, span: timedelta) -> datetime:
    """Return the start of a preset. The first of several days is a whole local day, the last is today."""
    if span <= timedelta(days=1):
        return end_of_quarter(now) - span
    return find_midnight(now.astimezone(zone).date() - span + timedelta(days=1), zone)


def floor_to_quarter(moment: datetime) -> datetime:
    """Round down to the quarter hour, in UTC: tallies are no finer."""
    moment = moment.astimezone(UTC)
    return moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)


def ceil_to_quarter(moment: datetime) -> datetime:
    """Round up to the quarter hour, in UTC."""
    return floor_to_quarter(moment + QUARTER - timedelta.resolution)


def end_of_quarter(now: datetime) -> datetime:
    """Return the end of the quarter hour that holds `now`."""
    return floor_to_quarter(now) + QUARTER


def find_zone(name: str) -> ZoneInfo | None:
    """Return the IANA zone of this name, UTC for ""; None if there is none."""
    return ZoneInfo(name or "UTC") if (name or "UTC") in list_zone_names() else None


@cache
def list_zone_names() -> frozenset[str]:
    """Return the names of all IANA zones. The machine has files of other names too, such as its own zone."""
    return frozenset(available_timezones()) - {"localtime", "Factory"}
