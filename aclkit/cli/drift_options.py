"""Options of the nightly run about the files with which it compares the ACLs of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from glob import has_magic
from pathlib import Path
from typing import Any

from aclkit.audit.findings.drift import DesiredFiles
from aclkit.cli.desired_options import READING, SCOPE
from aclkit.cli.options import option, together
from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.kafka.desired.documents import STDIN
from aclkit.kafka.desired.read import Asked
from aclkit.model.phrases import few, listed
from aclkit.questions.preview.desired import SCOPES
from aclkit.runtime.uri import is_uri, shown

_Command = Callable[..., Any]

_DESIRED = option(
    "--desired",
    "desired_paths",
    multiple=True,
    metavar="PATH",
    help="Compare with the files in which you keep ACLs. Repeatable.",
)


def drift_options(command: _Command) -> _Command:
    """Give ``run`` the options about the files that it compares the cluster with."""
    return together(_DESIRED, *READING[:2], *SCOPE)(command)


def drift_files(chosen: Mapping[str, Any]) -> DesiredFiles | None:
    """Read the files of ``--desired``; what is wrong with them becomes a finding, not an error.

    Raises:
        UsageError: a format or cluster is unknown, or files need ``--scope``.
    """
    paths, scope = tuple(chosen["desired_paths"]), chosen["scope"]
    if not paths:
        return None
    if missing := [path for path in paths if _is_missing(path)]:
        return DesiredFiles(paths=paths, reason=f"{shown(missing[0])}: the file does not exist")
    # Here: a run without files needs none of their formats.
    from aclkit.questions.preview.desired_forms import read_wanted

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
    return DesiredFiles(
        paths=paths, desired=desired, scope=scope, with_operator=bool(chosen["operator"])
    )


def _is_missing(path: str) -> bool:
    """Whether a file is not there: a checkout that failed must not end the night."""
    return not (path == STDIN or is_uri(path) or has_magic(path) or Path(path).exists())
