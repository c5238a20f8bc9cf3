"""kafka-acls' own options, under its names, as click options → ``AclOptions``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from aclkit.cli.options import flag, gathered, option, together
from aclkit.kafka.acls.options import PATTERN_TYPES, AclOptions

Command = Callable[..., Any]


class Text(click.ParamType[str]):
    """Any text; the environment gives several of them as lines, for they may hold spaces."""

    name = "text"
    envvar_list_splitter = "\n"


def _texts(name: str, metavar: str, text: str) -> Callable[[Command], Command]:
    return option(name, multiple=True, type=Text(), metavar=metavar, help=text)


_RESOURCE: Final = (
    _texts("--topic", "NAME", "Topic; * is all topics. These may be given again."),
    _texts("--group", "NAME", "Consumer group."),
    option(
        "--cluster-resource",
        "--cluster",
        is_flag=True,
        help="The Kafka cluster itself. (Which cluster is meant stands before the command.)",
    ),
    _texts("--transactional-id", "ID", "Transactional id."),
    _texts("--delegation-token", "ID", "Delegation token."),
    _texts("--user-principal", "PRINCIPAL", "User, as a resource."),
    option(
        "--resource-pattern-type",
        type=click.Choice(PATTERN_TYPES, case_sensitive=False),
        default="literal",
        help=(
            "How the names are meant; any: this name under every pattern type; match: all "
            "patterns that reach the name. These two select only."
        ),
    ),
)
_ENTRY: Final = (
    _texts("--allow-principal", "TYPE:NAME", "Principal of an ALLOW."),
    _texts("--deny-principal", "TYPE:NAME", "Principal of a DENY."),
    _texts("--allow-host", "IP", "Host of the ALLOWs; * if not given."),
    _texts("--deny-host", "IP", "Host of the DENYs; * if not given."),
    _texts("--operation", "NAME", "Operation, such as Read or DescribeConfigs; All if not given."),
    flag("--producer", "What a producer needs on topic and transactional id."),
    flag("--consumer", "What a consumer needs on topic and group."),
    flag("--idempotent", "With --producer: IDEMPOTENT_WRITE too."),
)
principal_option = option(
    "--principal",
    multiple=True,
    type=Text(),
    metavar="TYPE:NAME",
    help="Only ACLs of exactly this principal; may be given again.",
)
force_option = flag("--force", "Ask nothing, do it.")
_IGNORED: Final = "Taken and without effect, as by kafka-acls --list."
_ELSEWHERE: Final = "Taken and without effect: a warehouse is asked, and no broker."


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


def acl_options(command: Command) -> Command:
    """Give a command kafka-acls' options for resources and entries, as its argument ``options``."""
    return together(*_RESOURCE, *_ENTRY)(gathered("options", AclOptions, command))


def resource_options(command: Command) -> Command:
    """Give a command kafka-acls' options for resources only, as its argument ``options``."""
    return together(*_RESOURCE)(gathered("options", AclOptions, command))
