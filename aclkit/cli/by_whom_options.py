"""Options of the nightly run about who changed ACLs, and the files that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from aclkit.audit.findings.by_hand import parse_automation
from aclkit.cli.options import FiniteRange, option, together
from aclkit.cli.output import tell
from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.phrases import few
from aclkit.questions.by_whom.command import ByWhomOptions
from aclkit.questions.usage.clock import parse_zone
from aclkit.runtime.safe_read import read_text

_Command = Callable[..., Any]

_OPTIONS = (
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
)


def by_whom_options(command: _Command) -> _Command:
    """Give ``run`` the options about who changed ACLs."""
    return together(*_OPTIONS)(command)


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
