"""Options by which a change is judged, and what follows from the verdict: exit code and summary."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from aclkit.cli.options import GateOption, gathered, option, together
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.demands import DemandFiles
from aclkit.questions.difference.verdict import FAIL_ON, OLD_NAMES, Verdict
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.runtime.atomic_file import open_atomically

_Command = Callable[..., Any]

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
    def files(self) -> DemandFiles:
        """The files with what a team allows."""
        return DemandFiles(assertions=self.assertions, reference=self.reference, watch=self.watch)

    @property
    def has_files(self) -> bool:
        """Whether a file says what is allowed."""
        return any((self.assertions, self.reference, self.watch))

    @property
    def is_asked(self) -> bool:
        """Whether a verdict is asked for."""
        return bool(self.has_files or self.fail_on or self.summary_env)

    def forget_summary(self) -> None:
        """Remove the summary of an earlier change: an error must not leave its verdict."""
        if self.summary_env:
            Path(self.summary_env).unlink(missing_ok=True)


def gate_options(command: _Command) -> _Command:
    """Hand a command the options by which a change is judged, as its argument ``gate``."""
    return together(*_OPTIONS)(gathered("gate", GateOptions, command))


def write_summary(path: str, compared: Compared, verdict: Verdict) -> None:
    """Write the verdict and counts as lines that a shell and GitLab's dotenv reports read.

    What is gained and lost are the lines of the answer: names that do not exist yet count too.
    """
    lines = Counter(line.kind for line in compared.told)
    values: Mapping[str, object] = {
        "ACLKIT_VERDICT": OLD_NAMES[verdict.name],
        "ACLKIT_REASON": " ".join(" ".join(verdict.reasons[:1]).split()),
        "ACLKIT_GAINED": lines[GAINED],
        "ACLKIT_LOST": lines[LOST],
        "ACLKIT_ADDED_ACLS": len(compared.change.added),
        "ACLKIT_REMOVED_ACLS": len(compared.change.removed),
        "ACLKIT_GAPS": sum(each.effect == "gap" for each in compared.applied.effects),
    }
    with open_atomically(path) as file:
        file.writelines(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
