"""Options of commands that read the files in which a team keeps its ACLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from aclkit.audit.findings.drift import DesiredFiles
from aclkit.cli.options import flag, gathered, option, together
from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.kafka.desired.read import Asked
from aclkit.model.phrases import few, listed
from aclkit.questions.preview.planned import read_wanted
from aclkit.questions.preview.scopes import SCOPES, Scope

_Command = Callable[..., Any]

_READING = (
    option(
        "--from",
        "form",
        metavar="FORMAT",
        help="Format of the files. Default: told by their content.",
        envvar="ACLKIT_DESIRED_FROM",
    ),
    option("--of-cluster", metavar="NAME", help="Which cluster, if the files are for several."),
    flag("--strict", "Refuse files with parts that may hold ACLs and are not read."),
    flag("--allow-empty", "Accept files without any ACL."),
)
_DESIRED = option(
    "--desired",
    "desired_paths",
    multiple=True,
    metavar="PATH",
    help="Compare with the files in which you keep ACLs. Repeatable.",
)
_SCOPE = (
    option(
        "--scope",
        type=click.Choice(SCOPES),
        help="Which ACLs the files replace: add removes none, principals those of the principals "
        "in the files, all every other ACL.",
    ),
    flag("--operator", "Also remove what Strimzi's User Operator would delete."),
)


@dataclass(frozen=True, slots=True)
class DesiredOptions:
    """What is read of the files, and what they replace."""

    form: str | None = None
    of_cluster: str | None = None
    strict: bool = False
    allow_empty: bool = False
    scope: Scope | None = None
    operator: bool = False

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
    return together(*_READING)(gathered("wanted", DesiredOptions, command))


def desired_options(command: _Command) -> _Command:
    """Hand a command the options about reading and scope, as its argument ``wanted``."""
    return together(*_READING, *_SCOPE)(gathered("wanted", DesiredOptions, command))


def drift_options(command: _Command) -> _Command:
    """Give ``run`` the options about the files that it compares the cluster with."""
    return together(_DESIRED, *_READING[:2], *_SCOPE)(command)


def drift_files(chosen: Mapping[str, Any]) -> DesiredFiles | None:
    """Read the files of ``--desired``; what is wrong with them becomes a finding, not an error.

    Raises:
        UsageError: a format or cluster is unknown, or files need ``--scope``.
    """
    paths, scope = tuple(chosen["desired_paths"]), chosen["scope"]
    if not paths:
        return None
    asked = Asked(form=chosen["form"], cluster=chosen["of_cluster"], is_strict=chosen["strict"])
    try:
        desired = read_wanted(paths, asked)
    except (DataError, SurroundingsError) as error:
        return DesiredFiles(paths=paths, reason=str(error))
    if scope is None and any(part.reach == "asked" for part in desired.parts):
        names = few(part.document for part in desired.parts if part.reach == "asked")
        raise UsageError(
            f"{names}: ACLs that the files do not hold may be theirs or not. Pass --scope "
            f"{listed(SCOPES, 'or')}."
        )
    return DesiredFiles(paths=paths, desired=desired, scope=scope, with_operator=chosen["operator"])
