"""Options of the nightly run about the ends of grants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from aclkit.audit.findings.leases import NOTICE, Leases, parse_leases
from aclkit.cli.options import FiniteRange, option, together
from aclkit.runtime.safe_read import read_text

_Command = Callable[..., Any]

_OPTIONS = (
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


def lease_options(command: _Command) -> _Command:
    """Give ``run`` the options about the ends of grants."""
    return together(*_OPTIONS)(command)


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
