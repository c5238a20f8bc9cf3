"""A published warehouse → what decides, what clients used, and what the log covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aclkit.questions.narrow.propose import Asked
from aclkit.questions.read_state import Opened, read_state
from aclkit.questions.usage.read_use import USE_TABLES, LogOptions, read_use
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published
from aclkit.warehouse.reader import Tables

NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {} for name in (*USE_TABLES, "principal", "host", "resource")
}
"""The tables that are asked, see ``duck.connect``."""


def read_asked(
    tables: Tables,
    published: Published,
    run: PublishedRun,
    options: LogOptions,
    principals: Sequence[str] = (),
) -> Asked:
    """Read the ACLs in force, and what the log shows of their use.

    Args:
        tables: knows ``NEEDED``.
        published: the warehouse.
        run: the run whose decisions are published.
        options: what is asked of the log.
        principals: whose use is read; everyone's if none is named.
    """
    rules = read_state(Opened(tables, published, run), with_names=False).rules
    return Asked(use=read_use(tables, published, run, rules, options, principals))
