"""Options ``--baseline`` and ``--mutes``, and the files that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date

import click

from aclkit.audit.findings.baseline import BaselineEntry, Judged, Mute, parse_baseline, parse_mutes
from aclkit.audit.reports.words import ran_out_sentences
from aclkit.cli.options import F, GateOption, option, together
from aclkit.cli.output import tell
from aclkit.model.findings import NEVER, SEVERITIES
from aclkit.runtime.safe_read import LARGEST_DATA, read_text

baseline_options = together(
    option(
        "--baseline",
        metavar="FILE.json",
        help="Known findings, which do not fail. See audit --write-baseline.",
    ),
    option("--mutes", metavar="FILE.toml", help="Accepted findings with owner and expiry date."),
)


def fail_on_option(text: str) -> Callable[[F], F]:
    """Return the option ``--fail-on``."""
    return option(
        "--fail-on",
        cls=GateOption,
        type=click.Choice([*SEVERITIES, NEVER]),
        default="high",
        help=text,
    )


def read_baseline(path: str | None) -> dict[str, BaselineEntry]:
    """Read the file of ``--baseline``; without one nothing is known."""
    return {} if path is None else parse_baseline(read_text(path, LARGEST_DATA), path)


def read_mutes(path: str | None) -> list[Mute]:
    """Read the file of ``--mutes``; without one nothing is muted."""
    return [] if path is None else parse_mutes(read_text(path), path)


def tell_mutes(judged: Iterable[Judged], mutes: Sequence[Mute], today: date) -> None:
    """Print on stderr which mutes have run out, and which are about nothing."""
    items = list(judged)
    for sentence in ran_out_sentences(items):
        tell(f"{sentence}: fix the finding, or answer for it anew")
    for mute in mutes:
        if not any(item.finding is not None and mute.covers(item.finding) for item in items):
            name = mute.fingerprint or mute.finding
            late = ", and has run out" if today > mute.until else ""
            tell(f"the mute of {mute.owner} on {name} is about nothing now{late}")
