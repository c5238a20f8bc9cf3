"""Options by which a change is judged, and what follows from the verdict: exit code and summary."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from aclkit.cli.options import GateOption, gathered, option, together
from aclkit.kafka.desired.read import Asked
from aclkit.questions.assertions.model import Assertion, Outcome
from aclkit.questions.assertions.parse import parse_assertions, parse_watches
from aclkit.questions.gate.verdict import DENY, FAIL_ON, REVIEW, Limits, Planned, Verdict
from aclkit.questions.prove.claim import HOLDS, NO_MORE, hold_against
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.state import State
from aclkit.rules.names.change_lines import change_lines
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.runtime.atomic_file import open_atomically
from aclkit.runtime.safe_read import read_text

_Command = Callable[..., Any]

ALWAYS: Final = "always"
"""The kind of policy that less access breaks."""

_OPTIONS = (
    option(
        "--assertions",
        cls=GateOption,
        metavar="FILE.toml",
        help="Your own policies (see aclkit assert).",
    ),
    option(
        "--reference",
        cls=GateOption,
        metavar="PATH",
        help="ACLs beyond whose access the result must not go; any format of desired show.",
    ),
    option(
        "--watch",
        cls=GateOption,
        metavar="FILE.toml",
        help="Sensitive access: no change of it passes.",
    ),
    option(
        "--fail-on",
        cls=GateOption,
        type=click.Choice(FAIL_ON),
        help="Exit code 1 where access is gained, lost, off or open for a time (gap), or any.",
    ),
    option(
        "--summary-env",
        cls=GateOption,
        metavar="FILE",
        help="Write the verdict and counts as NAME=value.",
    ),
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

    def forget_summary(self) -> None:
        """Remove the summary of an earlier change: an error must not leave its verdict."""
        if self.summary_env:
            Path(self.summary_env).unlink(missing_ok=True)


def gate_options(command: _Command) -> _Command:
    """Hand a command the options by which a change is judged, as its argument ``gate``."""
    return together(*_OPTIONS)(gathered("gate", GateOptions, command))


def limits_of(gate: GateOptions, planned: Planned, budget: Budget) -> Limits:
    """Check the state at the end, and those on the way, against what the team allows.

    Raises:
        UsageError: a file does not exist or is invalid.
        DataError: the reference cannot be read.
    """
    after = planned.preview.change.after
    outcomes: Sequence[Outcome] = ()
    passing: list[Outcome] = []
    if gate.assertions:
        assertions = parse_assertions(read_text(gate.assertions), gate.assertions)
        outcomes = _check(after, assertions, planned, budget)
        sound = {each.assertion.name for each in outcomes if each.has_passed}
        kept = [each for each in assertions if each.name in sound]
        for state, is_least in _extremes(planned):
            asked = [each for each in kept if is_least is None or is_least is (each.kind == ALWAYS)]
            found = _check(state, asked, planned, budget)
            passing += [each for each in found if not each.has_passed]
    reference, beyond = None, False
    if gate.reference:
        files = Files([gate.reference], Asked(allows_empty=True), "all", onto=after.with_only(()))
        limit = read_state(files).rules
        reference = hold_against(NO_MORE, limit, after.rules, budget, 1)
        beyond = any(
            hold_against(NO_MORE, limit, state.rules, budget, 1).outcome != HOLDS
            for state, is_least in _extremes(planned)
            if not is_least
        )
    return Limits(
        fail_on=gate.fail_on,
        outcomes=outcomes,
        passing=list({each.assertion.name: each for each in passing}.values()),
        reference=reference,
        beyond=beyond and reference is not None and reference.outcome == HOLDS,
        watches=parse_watches(read_text(gate.watch), gate.watch) if gate.watch else (),
    )


def _extremes(planned: Planned) -> Iterator[tuple[State, bool | None]]:
    """Yield the states that allow most and least; None of one that can be either.

    What is published afterwards may be read otherwise than what is published now.
    """
    after = planned.preview.change.after
    for each in planned.bounds:
        yield each.most.read_like(after), False
        yield each.least.read_like(after), True
        if each.bare.settings.allow_everyone:
            yield each.bare.read_like(after), None


def _check(
    state: State, assertions: Sequence[Assertion], planned: Planned, budget: Budget
) -> Sequence[Outcome]:
    """Check policies on a state that no run decided."""
    if not assertions:
        return ()
    # Here: most changes are judged without, and what counts violations loads numpy.
    from aclkit.questions.assertions.check import check

    known = replace(state, inventory=planned.preview.asked)
    return check(known, assertions, budget, at_every_end=False)


def end_with(verdict: Verdict, *, is_strict: bool) -> None:
    """End with 1 where a change may not go ahead; ``is_strict``: where it wants a review too."""
    if verdict.name == DENY or (is_strict and verdict.name == REVIEW):
        click.get_current_context().exit(1)


def write_summary(path: str, planned: Planned, verdict: Verdict) -> None:
    """Write the verdict and counts as lines that a shell and GitLab's dotenv reports read.

    What is gained and lost are the lines of the answer: names that do not exist yet count too.
    """
    lines = Counter(line.kind for line in change_lines(planned.preview.openings))
    values: Mapping[str, object] = {
        "ACLKIT_VERDICT": verdict.name,
        "ACLKIT_REASON": " ".join(verdict.reasons[0].split()),
        "ACLKIT_GAINED": lines[GAINED],
        "ACLKIT_LOST": lines[LOST],
        "ACLKIT_ADDED_ACLS": len(planned.preview.change.added),
        "ACLKIT_REMOVED_ACLS": len(planned.preview.change.removed),
        "ACLKIT_GAPS": sum(each.effect == "gap" for each in planned.effects),
    }
    with open_atomically(path) as file:
        file.writelines(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
