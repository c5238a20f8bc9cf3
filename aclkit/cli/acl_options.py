"""kafka-acls' own options, under its names, as click options → ``AclOptions``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click

from aclkit.cli.options import Text, flag, gathered, option, together
from aclkit.kafka.acls.options import PATTERN_TYPES, AclOptions

Command = Callable[..., Any]


def _texts(name: str, metavar: str, text: str) -> Callable[[Command], Command]:
    return option(name, multiple=True, type=Text(), metavar=metavar, help=text)


_RESOURCE: Final = (
    _texts("--topic", "NAME", "Topic name, or * for all. Repeatable."),
    _texts("--group", "NAME", "Consumer group. Repeatable."),
    option(
        "--cluster-resource",
        "--cluster",
        is_flag=True,
        help="The Kafka cluster as a resource. (A cluster id goes before the command.)",
    ),
    _texts("--transactional-id", "ID", "Transactional id. Repeatable."),
    _texts("--delegation-token", "ID", "Delegation token. Repeatable."),
    _texts("--user-principal", "PRINCIPAL", "User as a resource. Repeatable."),
    option(
        "--resource-pattern-type",
        type=click.Choice(PATTERN_TYPES, case_sensitive=False),
        default="literal",
        help=(
            "Pattern type. any and match only select ACLs: those with this name, or all that "
            "match it."
        ),
    ),
)
_ENTRY: Final = (
    _texts("--allow-principal", "TYPE:NAME", "Principal to allow. Repeatable."),
    _texts("--deny-principal", "TYPE:NAME", "Principal to deny. Repeatable."),
    _texts("--allow-host", "IP", "Host to allow. Default: *."),
    _texts("--deny-host", "IP", "Host to deny. Default: *."),
    _texts("--operation", "NAME", "Operation, such as Read. Default: All."),
    flag("--producer", "Operations of a producer on topic and transactional id."),
    flag("--consumer", "Operations of a consumer on topic and group."),
    flag("--idempotent", "With --producer: also IDEMPOTENT_WRITE on the cluster."),
)
principal_option = option(
    "--principal",
    multiple=True,
    type=Text(),
    metavar="TYPE:NAME",
    help="Only ACLs for exactly this principal. Repeatable.",
)
force_option = flag("--force", "Do not ask for confirmation.")
_IGNORED: Final = "Accepted without effect, as by kafka-acls --list."
_ELSEWHERE: Final = "Accepted without effect: no broker is contacted."


def _ignored(name: str, text: str, **settings: Any) -> Callable[[Command], Command]:  # noqa: ANN401 -- click's own keywords
    """Make an option that a kafka-acls command may hold; the environment means others by it."""
    return click.option(name, expose_value=False, help=text, **settings)


ignored_options: Final = together(
    _ignored("--operation", _IGNORED, multiple=True, metavar="NAME"),
    _ignored("--force", _IGNORED, is_flag=True),
    _ignored("--bootstrap-server", _ELSEWHERE, metavar="HOST:PORT"),
    _ignored("--bootstrap-controller", _ELSEWHERE, metavar="HOST:PORT"),
    _ignored("--command-config", _ELSEWHERE, metavar="FILE"),
)


resource_options: Final = together(*_RESOURCE, partial(gathered, "options", AclOptions))
"""kafka-acls' options for resources, handed to a command as its argument ``options``."""

acl_options: Final = together(*_RESOURCE, *_ENTRY, partial(gathered, "options", AclOptions))
"""The same, and those for entries."""
