"""`affidavit har`: send the shapes of recorded traffic. Bodies and values never leave this process."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from affidavit._cli._hub_options import Undelivered, UsageError, add_hub_options, read_hub_options
from affidavit._cli._piped_input import make_rereadable
from affidavit._cli._preview import count_operations, preview_catalog
from affidavit._cli._progress_bar import show_progress_bar
from affidavit._errors import ReportError, escape_unprintable
from affidavit._har.entries import Exchange, LeftOut, Skip, read_har
from affidavit._hub.transport import Transport
from affidavit._json import ABSENT, Absent, Json
from affidavit._paths.classify import Judgement
from affidavit._paths.learner import Learner
from affidavit._paths.template_limits import is_too_long
from affidavit._paths.templates import Template
from affidavit._shapes.form_fields import FormFields
from affidavit._witness.observations import Observations
from affidavit._witness.witness_reports import make_content_report_id, send_observations
from affidavit.operations import Identity

_DESCRIPTION = """Read a HAR file, infer the shapes of its traffic on this machine, and send nothing but the
shapes to a hub. Sending the same file again changes nothing. Paths with a segment that may be a value are
listed and held back."""

_HOW_TO_SEND = "--send-undecided sends them"
_MAX_LISTED = 50  # lines of a list
_MAX_SIGNS = 3  # signs named for each path that is held back


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("har", help="send the shapes of recorded traffic", description=_DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="a HAR file, plain, gzip or Playwright's zip")
    parser.add_argument(
        "--host", metavar="NAME", action="append", default=[], help="read this host only; may be repeated; default all"
    )
    add_hub_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="send nothing, print the catalog as JSON")
    parser.add_argument(
        "--send-undecided", action="store_true", help="also send paths with segments that may be values, unchanged"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the command: the file is read to its end before anything is sent.

    Raises UsageError, HarError or Undelivered.
    """
    if "" in options.host:
        raise UsageError("--host is empty. Is the variable that you pass set?")
    transport, key = (None, "") if options.dry_run else read_hub_options(options)
    # Production is named, too, so that a report has the same id with `--environment production` and without.
    environment = options.environment or "production"
    hosts = frozenset(host.lower() for host in options.host)
    recording = read_recording(options.file, send_undecided=options.send_undecided, hosts=hosts)
    _check_hosts(hosts, recording.host_names, options.file)
    if transport is None:
        catalog = {"environment": environment, "operations": preview_catalog(recording.entries)}
        print(json.dumps(catalog, indent=2))
        print(f"Dry run of {recording.size}: nothing was sent.{recording.remarks}", file=sys.stderr)
    else:
        send_recording(recording, transport, key, environment)
        print(f"Sent {recording.size}, refused none.{recording.remarks}")
    for line in [*list_hosts(recording.hosts), *list_held_back(recording.held_back, recording.reasons)]:
        print(line, file=sys.stderr)


@dataclass(frozen=True)
class Recording:
    """The observations that were read from one file.

    decided_entries: the wire observations without a segment that may be a value.
    undecided_entries: observations with such a segment, which are sent all the same.
    held_back: observations with such a segment, which are not sent.
    operations: how often each operation of everything that is sent was observed.
    hosts: the number of exchanges by host.
    host_names: the names by which these hosts can be chosen.
    reasons: why a path is undecided, by template.
    """

    decided_entries: Sequence[Mapping[str, Any]]
    undecided_entries: Sequence[Mapping[str, Any]]
    held_back: Sequence[Mapping[str, Any]]
    operations: Mapping[Identity, int]
    skip_counts: Counter[Skip]
    left_out: Counter[LeftOut]
    hosts: Counter[str]
    host_names: Collection[str]
    reasons: Mapping[str, str]

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """Return all observations to send, in order."""
        return [*self.decided_entries, *self.undecided_entries]

    @property
    def size(self) -> str:
        """Return the number of observations and operations, in words."""
        observation_count, operation_count = _count_observations(self.entries), len(self.operations)
        return f"{_format_count(observation_count, 'observation')} of {_format_count(operation_count, 'operation')}"

    @property
    def remarks(self) -> str:
        """Return sentences that count the data that is not sent, and the observations that make no operation."""
        idle_count = _count_observations(self.entries) - sum(self.operations.values())
        sentences = [
            f" Skipped {_format_count(self.skip_counts.total(), 'entry', 'entries')}"
            f"{_format_reasons(self.skip_counts)}."
        ]
        if body_count := self.left_out.total():
            sentences.append(
                f" Left out {_format_count(body_count, 'body', 'bodies')}{_format_reasons(self.left_out)}."
            )
        if idle_count:
            idle = _format_count(idle_count, "observation")
            sentences.append(f" {idle} without an operation: their paths had only the statuses 404, 405 and 501.")
        if held_back_count := _count_observations(self.held_back):
            held_back = _format_count(held_back_count, "observation")
            sentences.append(f" Held back {held_back} whose path may hold a value; {_HOW_TO_SEND}.")
        return "".join(sentences)


def read_recording(path: str, *, send_undecided: bool = False, hosts: Collection[str] = ()) -> Recording:
    """Sum up a whole file, with progress bars on a terminal.

    hosts: the hosts to read; if empty, all.

    The file is read twice: path templates are learned from all paths before any template is used.
    """
    observations, skip_counts, left_out = Observations(), Counter[Skip](), Counter[LeftOut]()
    seen_hosts, host_names = Counter[str](), set[str]()
    reasons: dict[str, str] = {}
    with make_rereadable(path) as file:
        learner = _learn_templates(file, path, hosts)
        for item in _read_items(file, path, "Reading", hosts):
            if isinstance(item, Exchange):
                seen_hosts[item.host] += 1
                host_names.update(item.host_names)
            if isinstance(item, Skip):
                skip_counts[item] += 1
            elif is_too_long((path_template := learner.template(item.path)).path):
                skip_counts[Skip.TOO_LARGE] += 1
            else:
                _add_exchange(observations, item, path_template, left_out)
                if path_template.undecided and path_template.path not in reasons:
                    reasons[path_template.path] = _explain(learner.judge(item.path)[path_template.undecided[0]])
    decided_entries, undecided_entries = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for entry in observations.entries():
        (undecided_entries if "undecided" in entry else decided_entries).append(entry)
    undecided_entries, held_back = (undecided_entries, []) if send_undecided else ([], undecided_entries)
    operations = count_operations([*decided_entries, *undecided_entries])
    return Recording(
        decided_entries=decided_entries,
        undecided_entries=undecided_entries,
        held_back=held_back,
        operations=operations,
        skip_counts=skip_counts,
        left_out=left_out,
        hosts=seen_hosts,
        host_names=host_names,
        reasons=reasons,
    )


def _check_hosts(hosts: Collection[str], host_names: Collection[str], path: str) -> None:
    """Refuse a host that the file does not have: with a typing error nothing would be sent, and nobody would notice."""
    for host in sorted(hosts):
        if host not in host_names:
            raise UsageError(f"{path} has nothing of the host {host}; without --host the command lists its hosts.")


def list_hosts(hosts: Mapping[str, int]) -> Iterator[str]:
    """Yield lines that name the hosts of a file, the busiest first, if there are several."""
    if len(hosts) > 1:
        yield f"Read {len(hosts)} hosts as one API; --host NAME reads one of them:"
        busiest = sorted(hosts.items(), key=lambda item: (-item[1], item[0]))
        yield from (f"  {escape_unprintable(host)}  {count}" for host, count in busiest[:_MAX_LISTED])
        if len(hosts) > _MAX_LISTED:
            yield f"  and {len(hosts) - _MAX_LISTED} more"


def list_held_back(held_back: Iterable[Mapping[str, Any]], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each operation that is held back: the segments that may be values in brackets, and why."""
    lines = sorted({f"  {_mark_undecided(entry)}  ({reasons[entry['path']]})" for entry in held_back})
    yield from lines[:_MAX_LISTED]
    if len(lines) > _MAX_LISTED:
        yield f"  and {len(lines) - _MAX_LISTED} more"


def send_recording(recording: Recording, transport: Transport, key: str, environment: str) -> None:
    """Send with report ids that follow from the content, so that sending again changes nothing.

    Undecided observations have reports of their own, so sending them later changes no others. Raises Undelivered.
    """
    delivered_count = 0
    for part in (recording.decided_entries, recording.undecided_entries):
        try:
            send_observations(
                part, api_key=key, transport=transport, environment=environment, report_id=make_content_report_id
            )
        except ReportError as error:
            sent_count = _count_observations(recording.entries[: delivered_count + error.sent])
            total = _count_observations(recording.entries)
            reassurance = " What was sent counts once, however often the file is sent." if sent_count else ""
            summary = f"Sent {sent_count} of {_format_count(total, 'observation')}, not sent {total - sent_count}."
            raise Undelivered(f"{error} {summary}{reassurance}{recording.remarks}") from None
        delivered_count += len(part)


def _add_exchange(
    observations: Observations, exchange: Exchange, path_template: Template, left_out: Counter[LeftOut]
) -> None:
    left_out.update(body for body in (exchange.request, exchange.response) if isinstance(body, LeftOut))
    observations.add(
        exchange.method,
        path_template,
        exchange.status,
        at=exchange.at,
        query=exchange.query or None,
        request=ABSENT if isinstance(exchange.request, LeftOut) else exchange.request,
        response=_omit_unlearned(exchange.response),
        media_types=exchange.media_types,
    )


def _learn_templates(file: str, name: str, hosts: Collection[str]) -> Learner:
    learner = Learner()
    for item in _read_items(file, name, "Learning", hosts):
        if isinstance(item, Exchange):
            learner.learn(
                item.method,
                item.path,
                item.status,
                request=_omit_unlearned(item.request),
                response=_omit_unlearned(item.response),
            )
    return learner


def _read_items(file: str, name: str, label: str, hosts: Collection[str]) -> Iterator[Exchange | Skip]:
    with show_progress_bar(label) as progress:
        yield from read_har(file, now=time.time(), progress=progress, name=name, hosts=hosts)


def _omit_unlearned(body: "Json | FormFields | Absent | LeftOut") -> "Json | Absent":
    """Return the body if it is JSON, else ABSENT: paths are learned from JSON only."""
    return ABSENT if isinstance(body, LeftOut | FormFields) else body


def _mark_undecided(entry: Mapping[str, Any]) -> str:
    """Return an operation with its undecided segments marked: `GET /files/[anna]`."""
    segments = entry["path"].split("/")
    for index in entry["undecided"]:
        segments[index + 1] = f"[{segments[index + 1]}]"
    return f"{entry['method']} {'/'.join(segments)}"


def _explain(judgement: Judgement) -> str:
    """Return the probability that a segment is a value, and the signs that weigh most."""
    signs = sorted(((sign, weight) for sign, weight in judgement.signs.items() if sign), key=lambda item: -abs(item[1]))
    weighty = [f"{sign} {weight:+.1f}" for sign, weight in signs[:_MAX_SIGNS]]
    return "; ".join([f"a value with a probability of {100 * judgement.probability:.0f} %", *weighty])


def _count_observations(entries: Iterable[Mapping[str, Any]]) -> int:
    return sum(entry["count"] for entry in entries)


def _format_count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _format_reasons(counts: Mapping[Any, int]) -> str:
    """Return the reasons as `: 1 malformed, 3 not HTTP`; empty without any."""
    reasons = ", ".join(f"{counts[reason]} {reason.value}" for reason in sorted(counts, key=_read_words))
    return reasons and f": {reasons}"


def _read_words(reason: Enum) -> str:
    return str(reason.value)
