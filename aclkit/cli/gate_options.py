"""Options by which a change is judged, and what follows from the verdict: exit code and summary."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from aclkit.cli.options import gathered, option, together
from aclkit.kafka.desired.read import Asked
from aclkit.questions.assertions.model import Outcome
from aclkit.questions.assertions.parse import parse_assertions, parse_watches
from aclkit.questions.gate.start import Start
from aclkit.questions.gate.verdict import DENY, FAIL_ON, REVIEW, Limits, Planned, Verdict
from aclkit.questions.preview.planned import read_planned
from aclkit.questions.preview.state import State
from aclkit.questions.prove.claim import NO_MORE, hold_against
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.runtime.atomic_file import open_atomically
from aclkit.runtime.safe_read import read_text

_Command = Callable[..., Any]

_OPTIONS = (
    option("--assertions", metavar="FILE.toml", help="Your own policies (see aclkit assert)."),
    option(
        "--reference",
        metavar="PATH",
        help="ACLs beyond whose access the result must not go; any format of desired show.",
    ),
    option("--watch", metavar="FILE.toml", help="Sensitive access: no change of it passes."),
    option(
        "--fail-on",
        type=click.Choice(FAIL_ON),
        help="Exit code 1 where access is gained, lost, off for a time (gap), or any of these.",
    ),
    option("--summary-env", metavar="FILE", help="Write the verdict and counts as NAME=value."),
)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """By what a change is judged."""

    assertions: str | None = None
    reference: str | None = None
    watch: str | None = None
    fail_on: str | None = None
    summary_env: str | None = None

    @property
    def is_asked(self) -> bool:
        """Whether a verdict is asked for."""
        return any((self.assertions, self.reference, self.watch, self.fail_on, self.summary_env))


def gate_options(command: _Command) -> _Command:
    """Hand a command the options by which a change is judged, as its argument ``gate``."""
    return together(*_OPTIONS)(gathered("gate", GateOptions, command))


def limits_of(gate: GateOptions, planned: Planned, start: Start, budget: Budget) -> Limits:
    """Check the state at the end against what the team allows.

    Raises:
        UsageError: a file does not exist or is invalid.
        DataError: the reference cannot be read.
    """
    after = planned.preview.change.after
    rules = after.rules(start.semantics)
    outcomes: Sequence[Outcome] = ()
    if gate.assertions:
        # Here: a proof of two files needs no engine.
        from aclkit.questions.assertions.check import check_state
        from aclkit.questions.assertions.published import World

        asked = planned.preview.asked
        world = World.planned(
            rules,
            asked.hosts,
            {name: start.principals.get(name, {}) for name in asked.principals},
            {name: start.resources.get(name, {}) for name in asked.resources},
        )
        outcomes = check_state(
            world, parse_assertions(read_text(gate.assertions), gate.assertions), budget
        )
    reference = None
    if gate.reference:
        most = read_planned(
            [gate.reference], Asked(), State(acls={}, settings=after.settings), "all"
        )
        reference = hold_against(NO_MORE, most.after.rules(start.semantics), rules, budget, 1)
    return Limits(
        fail_on=gate.fail_on,
        outcomes=outcomes,
        reference=reference,
        watches=parse_watches(read_text(gate.watch), gate.watch) if gate.watch else (),
    )


def end_with(verdict: Verdict, *, is_strict: bool) -> None:
    """End with 1 where a change may not go ahead; ``is_strict``: where it wants a review too."""
    if verdict.name == DENY or (is_strict and verdict.name == REVIEW):
        click.get_current_context().exit(1)


def write_summary(path: str, planned: Planned, verdict: Verdict) -> None:
    """Write the verdict and counts as lines that a shell and GitLab's dotenv reports read."""
    effect = planned.preview.effect
    values: Mapping[str, object] = {
        "ACLKIT_VERDICT": verdict.name,
        "ACLKIT_REASON": " ".join(verdict.reasons[0].split()),
        "ACLKIT_GAINED": effect.count(GAINED),
        "ACLKIT_LOST": effect.count(LOST),
        "ACLKIT_ADDED_ACLS": len(planned.preview.change.added),
        "ACLKIT_REMOVED_ACLS": len(planned.preview.change.removed),
        "ACLKIT_GAPS": sum(each.effect == "gap" for each in planned.effects),
    }
    with open_atomically(path) as file:
        file.writelines(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
