"""Checks × what they look at → an outcome each, within a time limit.

A check only looks: nothing is written or fetched, and nothing started but ``java -version``. The
checks themselves are in ``checks``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from aclkit.errors import AclkitError, SurroundingsError
from aclkit.runtime.deadline import Deadline, start
from aclkit.runtime.environment import missing_package, not_installed

State = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """What is looked at.

    Attributes:
        warehouse: folder or URI, where one was named or found.
        sources: KIND:PATH each.
        command_config: the client's file for a live source.
        seconds: how long each check may take.
        env: the environment.
    """

    warehouse: str | None = None
    sources: Sequence[str] = ()
    command_config: str | None = None
    seconds: float = 10.0
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)


class CheckResult(NamedTuple):
    """What a check has seen where it did not fail."""

    found: str
    state: State = "ok"
    advice: str | None = None


class Outcome(NamedTuple):
    """What ``aclkit doctor`` reports for a check; ``exit_code`` is 0 unless it failed."""

    check: str
    state: State
    found: str
    what_to_do: str | None
    exit_code: int


class Check(NamedTuple):
    """A look at one thing; it raises an AclkitError or OSError where that will not do."""

    name: str
    look: Callable[[CheckContext], CheckResult]
    advice: str


def run_checks(checks: Sequence[Check], around: CheckContext) -> Iterator[Outcome]:
    """Do all checks at once, and yield their outcomes in their order.

    A check that exceeds the time limit is abandoned: a network disk may never answer.
    """
    deadline = Deadline(around.seconds)
    started = [(check, start(partial(_outcome, check, around), check.name)) for check in checks]
    for check, outcome in started:
        try:
            yield outcome.result(deadline.left)
        except TimeoutError:
            silent = SurroundingsError(f"no answer within {around.seconds:g} s")
            yield _failed(check, silent)


def _outcome(check: Check, around: CheckContext) -> Outcome:
    try:
        seen = check.look(around)
    except ModuleNotFoundError as error:
        return _failed(check, not_installed("this", missing_package(error)))
    except AclkitError as error:
        return _failed(check, error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _failed(check, SurroundingsError(f"{where}{error.strerror or error}"))
    is_fine = seen.state == "ok"
    return Outcome(check.name, seen.state, seen.found, None if is_fine else seen.advice, 0)


def _failed(check: Check, error: AclkitError) -> Outcome:
    return Outcome(check.name, "failed", str(error), check.advice, error.exit_code)
