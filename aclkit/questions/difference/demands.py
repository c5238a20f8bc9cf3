"""Files with what a team allows, and a difference → what it demands of it. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.kafka.desired.read import Asked
from aclkit.questions.assertions.model import Assertion, Outcome
from aclkit.questions.assertions.parse import parse_assertions, parse_watches
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.verdict import Demands
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.state import Bounds, State
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED, Difference
from aclkit.rules.names.rows import Rules
from aclkit.runtime.safe_read import read_text

ALWAYS: Final = "always"
"""The kind of policy that less access breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandFiles:
    """Files with what a team allows; None where there is none.

    Attributes:
        assertions: its policies.
        reference: ACLs beyond whose access nothing may be allowed.
        watch: which access is sensitive.
    """

    assertions: str | None = None
    reference: str | None = None
    watch: str | None = None


def read_demands(files: DemandFiles, kinds: Mapping[str, str], compared: Compared) -> Demands:
    """Check the state at the end, and those on the way, against what the team allows.

    Args:
        files: with what it allows.
        kinds: of ``Demands``.
        compared: the difference.

    Raises:
        UsageError: a file does not exist or is invalid.
        DataError: the reference cannot be read.
    """
    outcomes, passing = _policies(files.assertions, compared)
    reference, beyond = _reference(files.reference, compared)
    return Demands(
        kinds=kinds,
        outcomes=outcomes,
        passing=passing,
        reference=reference,
        beyond=beyond,
        watches=parse_watches(read_text(files.watch), files.watch) if files.watch else (),
    )


def _policies(path: str | None, compared: Compared) -> tuple[Sequence[Outcome], list[Outcome]]:
    """Return what comes out of policies at the end, and of those that hold there on the way."""
    if path is None:
        return (), []
    assertions = parse_assertions(read_text(path), path)
    outcomes = _check(compared.change.after, assertions, compared)
    sound = {each.assertion.name for each in outcomes if each.has_passed}
    kept = [each for each in assertions if each.name in sound]
    passing: list[Outcome] = []
    for state, is_least in _extremes(compared):
        asked = [each for each in kept if is_least is None or is_least is (each.kind == ALWAYS)]
        passing += (each for each in _check(state, asked, compared) if not each.has_passed)
    return outcomes, list({each.assertion.name: each for each in passing}.values())


def _reference(path: str | None, compared: Compared) -> tuple[Difference | None, bool]:
    """Return what is beyond the reference at the end, and whether more may be on the way."""
    if path is None:
        return None, False
    after = compared.change.after
    files = Files([path], Asked(allows_empty=True), "all", onto=after.with_only(()))
    limit = read_state(files).rules

    def beyond(rules: Rules) -> Difference:
        return Comparison.of(limit, rules, compared.budget).difference

    def is_within(found: Difference) -> bool:
        return found.is_known and not found.of_kind(GAINED)

    found = beyond(after.rules)
    others = (state.rules for state, is_least in _extremes(compared) if not is_least)
    return found, is_within(found) and not all(is_within(beyond(each)) for each in others)


def _extremes(compared: Compared) -> Iterator[tuple[State, bool | None]]:
    """Yield the states that allow most and least; None of one that can be either.

    What is published afterwards may be read otherwise than what is published now.
    """
    after, applied = compared.change.after, compared.applied
    bounds: Iterator[Bounds] = filter(None, (applied.ends, applied.moments))
    for each in bounds:
        yield each.most.read_like(after), False
        yield each.least.read_like(after), True
        if each.bare.settings.allow_everyone:
            yield each.bare.read_like(after), None


def _check(state: State, assertions: Sequence[Assertion], compared: Compared) -> Sequence[Outcome]:
    """Check policies on a state that no run decided."""
    if not assertions:
        return ()
    # Here: most changes are judged without, and what counts violations loads numpy.
    from aclkit.questions.assertions.check import check

    known = replace(state, inventory=compared.asked)
    return check(known, assertions, compared.budget, at_every_end=False)
