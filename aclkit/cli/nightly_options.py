"""Options of the nightly run alone: who changed ACLs, files to compare with, ends of grants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from glob import has_magic
from pathlib import Path
from typing import Any, Final

from aclkit.audit.findings.by_hand import parse_automation
from aclkit.audit.findings.drift import DesiredFiles
from aclkit.audit.findings.leases import NOTICE, Leases, parse_leases
from aclkit.cli.desired import READING, SCOPE
from aclkit.cli.options import FiniteRange, option, together
from aclkit.cli.output import tell
from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.kafka.desired.documents import STDIN
from aclkit.kafka.desired.read import Asked
from aclkit.model.phrases import few, listed
from aclkit.questions.by_whom.command import ByWhomOptions
from aclkit.questions.preview.desired import SCOPES
from aclkit.questions.usage.clock import parse_zone
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.uri import is_uri, shown

checking_options: Final = together(
    option(
        "--desired",
        "desired_paths",
        multiple=True,
        metavar="PATH",
        help="Compare with the files in which you keep ACLs. Repeatable.",
    ),
    *READING[:2],
    *SCOPE,
    option(
        "--controller-log",
        "controller_logs",
        multiple=True,
        metavar="PATH",
        help="Authorizer log of the controllers: file, .gz, folder or glob. Repeatable.",
    ),
    option(
        "--log-timezone",
        default="UTC",
        metavar="ZONE",
        help="Time zone of --controller-log, such as Europe/Berlin or +01:00.",
    ),
    option(
        "--skew",
        type=FiniteRange(min=0, max=3_600),
        default=1.0,
        metavar="SECONDS",
        help="By how much the clocks of controllers may differ.",
    ),
    option(
        "--automation",
        metavar="FILE.toml",
        help="Principals that are meant to change ACLs. Changes by others are a finding.",
    ),
    option(
        "--leases",
        metavar="FILE.toml",
        help="Until when ACLs are needed. Those that are over are a finding.",
    ),
    option(
        "--lease-notice",
        type=FiniteRange(min=0, max=3_650),
        default=float(NOTICE.days),
        metavar="DAYS",
        help="Report ACLs that end within this many days.",
    ),
)
"""With what a night compares the ACLs of the cluster."""


def controller_log(chosen: Mapping[str, Any]) -> ByWhomOptions | None:
    """Read the files of ``--controller-log``; None without any.

    A path that cannot be read becomes a note, because a controller can be gone for a night.

    Raises:
        UsageError: the zone is invalid, or no path has a log.
        SurroundingsError: no path can be read.
    """
    parse_zone(chosen["log_timezone"])
    if not chosen["controller_logs"]:
        return None
    # Here: a night without these logs needs none of Kafka's messages.
    from aclkit.questions.by_whom.read_log import read_controller_log
    from aclkit.questions.usage.log_file import find_log_files

    paths: dict[str, None] = {}
    errors: list[UsageError | SurroundingsError] = []
    for path in chosen["controller_logs"]:
        try:
            found, others = find_log_files([path])
        except (UsageError, SurroundingsError) as error:
            errors.append(error)
            continue
        paths.update(dict.fromkeys(found))
        if others:
            tell(f"Not read, because they do not begin with lines of an authorizer: {few(others)}.")
    if errors and not paths:
        raise errors[0]
    return ByWhomOptions(
        log=read_controller_log([*paths], chosen["log_timezone"]),
        skew=timedelta(seconds=chosen["skew"]),
        problems=tuple(map(str, errors)),
    )


def automation_of(chosen: Mapping[str, Any]) -> dict[str, str] | None:
    """Read the file of ``--automation``; None without one.

    Raises:
        UsageError: it cannot be used.
    """
    path = chosen["automation"]
    return None if path is None else parse_automation(read_text(path), path)


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


def leases_chosen(chosen: Mapping[str, Any]) -> Leases:
    """Read the file of ``--leases``.

    Raises:
        UsageError: it cannot be used.
    """
    path = chosen["leases"]
    return Leases(
        leases=() if path is None else tuple(parse_leases(read_text(path), path)),
        notice=timedelta(days=chosen["lease_notice"]),
    )
