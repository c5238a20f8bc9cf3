"""The options that say what a log must have before it shows what is unused, and what must stay."""

from __future__ import annotations

from functools import partial
from typing import Final

import click

from aclkit.cli.options import FiniteRange, flag, gathered, option, together
from aclkit.questions.usage.read_use import DEFAULT_OPTIONS, LogOptions

log_options: Final = together(
    option(
        "--unused-days",
        type=FiniteRange(min=0, max=36_500),
        default=DEFAULT_OPTIONS.unused_days,
        metavar="DAYS",
        help="Length of the window that shows use.",
    ),
    option(
        "--brokers",
        type=click.IntRange(1),
        metavar="N",
        help="The logs are of all N brokers. Default: the registered ones.",
    ),
    option(
        "--most-unread",
        type=click.IntRange(0),
        default=DEFAULT_OPTIONS.most_unread,
        metavar="LINES",
        help="Accept this many unreadable lines.",
    ),
    flag("--old-log", "Accept a log that ends a week before the ACLs were read."),
    partial(gathered, "of_log", LogOptions),
)
"""A command gets them as ``of_log``."""

keep_option: Final = option(
    "--keep", multiple=True, metavar="FILE", help="What must stay. Repeatable."
)
