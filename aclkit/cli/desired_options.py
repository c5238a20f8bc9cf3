"""Options of commands that read the files in which a team keeps its ACLs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from aclkit.cli.options import flag, gathered, option, together
from aclkit.kafka.desired.read import Asked
from aclkit.questions.preview.desired import SCOPES, Scope

_Command = Callable[..., Any]

READING = (
    option(
        "--from",
        "form",
        metavar="FORMAT",
        help="Format of the files. Default: the one that their content has.",
        envvar="ACLKIT_DESIRED_FROM",
    ),
    option("--of-cluster", metavar="NAME", help="Which cluster, if the files are for several."),
    flag("--strict", "Refuse files with parts that may hold ACLs and are not read."),
    flag("--allow-empty", "Accept files without any ACL."),
)
SCOPE = (
    option(
        "--scope",
        type=click.Choice(SCOPES),
        help="Which other ACLs to remove: none (add), those of principals in the files, or all.",
    ),
    option(
        "--operator/--no-operator",
        default=None,
        help="Whether Strimzi's User Operator runs: it also removes ACLs of users without a file.",
    ),
)


@dataclass(frozen=True, slots=True)
class DesiredOptions:
    """What is read of the files, and what they replace."""

    form: str | None = None
    of_cluster: str | None = None
    strict: bool = False
    allow_empty: bool = False
    scope: Scope | None = None
    operator: bool | None = None

    @property
    def asked(self) -> Asked:
        """What is read of the files."""
        return Asked(
            form=self.form,
            cluster=self.of_cluster,
            is_strict=self.strict,
            allows_empty=self.allow_empty,
        )


def reading_options(command: _Command) -> _Command:
    """Hand a command the options about reading, as its argument ``wanted``."""
    return together(*READING)(gathered("wanted", DesiredOptions, command))


def desired_options(command: _Command) -> _Command:
    """Hand a command the options about reading and scope, as its argument ``wanted``."""
    return together(*READING, *SCOPE)(gathered("wanted", DesiredOptions, command))
