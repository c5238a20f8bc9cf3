"""What each question takes, declared once: options of a command, arguments of a tool, a form.

``cli/asked.py`` makes the first of them, ``audit/mcp/arguments.py`` the second, and
``audit/serve/form.py`` reads the third. Help imports this module, so it imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Annotated, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from aclkit.model.values import dataclass

LONGEST_TEXT: Final = 4_096
LONGEST_TIME: Final = 64
MOST_ROWS: Final = 1_000

Decision = Literal["ALLOWED", "DENIED", "both"]
DECISIONS: Final = {"ALLOWED": "ALLOWED", "DENIED": "DENIED", "both": None}
"""Which decisions are listed → the one that is kept; None keeps both."""


class Option(NamedTuple):
    """How the command line takes an argument that stands at no place of its own.

    Attributes:
        names: separated by spaces, the first with its dashes.
        help: what it is for, in the command's words.
        metavar: what stands for its value in the help.
        value: what the argument is if the option is given, which then takes no value.
        is_setting: the environment and a TOML file can give it.
        is_repeatable: several may be given.
        least: the smallest whole number; None for a text.
    """

    names: str
    help: str
    metavar: str | None = None
    value: str | None = None
    is_setting: bool = True
    is_repeatable: bool = False
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """What an argument of a question is.

    Attributes:
        about: what it is, for a program that asks.
        examples: some values.
        longest: so many letters a text may have.
        least: the smallest number.
        most: the largest number.
        options: how the command line takes it; without any, by its place.
        completes: what a shell completes it with, in ``cli/asked.py``.
        metavar: what stands for it in the usage of a command.
        may_lack: a command accepts that it is missing, and completes it or reports it.
    """

    about: str
    examples: tuple[str, ...] = ()
    longest: int = LONGEST_TEXT
    least: int | None = None
    most: int | None = None
    options: tuple[Option, ...] = ()
    completes: str = ""
    metavar: str | None = None
    may_lack: bool = False


_NAMES: Final = (
    "topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, user:NAME, or cluster."
)
_LEAST: Final = "Only findings of this severity or higher."
_Principal = Annotated[str, Argument(
    "A principal with its type. User:<any-other> stands for every principal that no ACL names.",
    ("User:alice",), completes="principal",
)]  # fmt: skip
_Resource = Annotated[str, Argument(_NAMES, ("topic:payments",), completes="resource")]
_Host = Annotated[str | None, Argument(
    "Client IP address.", ("10.0.0.7",),
    options=(Option("--host", "Only from this client IP address.", "IP"),),
)]  # fmt: skip
_Decision = Annotated[Decision, Argument("Which decisions to list.", options=(
    Option("--denied", "Show denied access instead.", value="DENIED"),
    Option("--all", "Show allowed and denied access.", value="both"),
))]  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Asked:
    """What every tool takes; a command and a page get it from elsewhere."""

    cluster: Annotated[
        str | None, Argument("Cluster id. Needed only if the warehouse has several clusters.")
    ] = None
    limit: Annotated[int, Argument(
        "Most rows of each list in the answer. cut has the full numbers.", least=1, most=MOST_ROWS
    )] = 25  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WhoCan(Asked):
    """Who can perform an operation on a resource."""

    operation: Annotated[str, Argument(
        "A Kafka operation, or ANY for all of them.", ("READ", "ANY"), completes="operation"
    )]  # fmt: skip
    resource: Annotated[str, Argument(
        f"{_NAMES} With prefix: a type alone, such as topic.", ("topic:payments", "cluster"),
        completes="resource", metavar="RESOURCE", may_lack=True,
    )]  # fmt: skip
    host: _Host = None
    decision: _Decision = "ALLOWED"
    prefix: Annotated[str | None, Argument(
        "Ask about all names that start with this text, future names too.", ("payments.",),
        options=(Option(
            "--prefix", "All names that start with TEXT, future ones too. RESOURCE is a type then.",
            "TEXT",
        ),),
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WhatCan(Asked):
    """What a principal can do."""

    principal: _Principal
    resource: Annotated[str | None, Argument(
        "Only this resource, or this type, such as topic.", ("topic", "topic:payments"),
        completes="resource", metavar="[TYPE[:NAME]]",
    )] = None  # fmt: skip
    host: _Host = None
    decision: _Decision = "ALLOWED"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class History(Asked):
    """How one access changed over time."""

    principal: _Principal
    operation: Annotated[
        str, Argument("A Kafka operation.", ("READ", "ALTER_CONFIGS"), completes="request")
    ]
    resource: _Resource
    host: Annotated[str | None, Argument(
        "Client IP address.", ("10.0.0.7",),
        options=(Option("--host", "Client IP address. Default: one that no ACL names.", "IP"),),
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Why(History):
    """Why one access is allowed or denied."""

    at: Annotated[str | None, Argument(
        "A log offset or an ISO 8601 time. Default: the newest run.",
        ("900", "2026-11-20T18:00:00Z"), LONGEST_TIME,
        options=(
            Option("--at-offset", "State at this log offset.", "N", least=0),
            Option("--at", "State at this ISO 8601 time.", "TIME"),
        ),
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Can(History):
    """Whether an access, or each of a task, is allowed."""

    operation: Annotated[str, Argument(
        "Operations, a request or a task.", completes="task", metavar="OPERATION[,OPERATION...]"
    )]  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Changes(Asked):
    """What runs changed."""

    since: Annotated[str | None, Argument(
        "All runs after this run number or ISO 8601 time. Default: the last run.",
        ("41", "2026-11-20T00:00:00Z"), LONGEST_TIME,
        options=(Option("--since", "All runs after this run or ISO 8601 time.", "RUN|TIME"),),
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FindingsOf(Asked):
    """Which findings are listed."""

    severity: Annotated[Literal["high", "medium", "low", "info"] | None, Argument(
        _LEAST, options=(Option("--severity", _LEAST, is_setting=False),)
    )] = None  # fmt: skip
    kind: Annotated[str | None, Argument(
        "Only findings of this kind.", ("public-access",), completes="finding",
        options=(Option(
            "--kind --finding", "Only findings of this kind, all of them. Repeatable.", "KIND",
            is_setting=False, is_repeatable=True,
        ),),
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Denials(Asked):
    """Which refused accesses are listed."""

    only_new: Annotated[bool, Argument(
        "Only what the last reading of the log saw first.",
        options=(Option("--new", "Only what the last usage run saw first.", is_setting=False),),
    )] = False  # fmt: skip
    include_listings: Annotated[bool, Argument(
        "Also what was only left out of an answer, and what is allowed by now.",
        options=(Option("--all", "Also listings and what is allowed by now.", is_setting=False),),
    )] = False  # fmt: skip
    min_lines: Annotated[int, Argument(
        "Fewest lines of the log.", least=1,
        options=(Option("--min-lines", "Fewest log lines.", "N", least=1),),
    )] = 1  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AddAcl(Asked):
    """An ACL to come; the command line takes Kafka's own options."""

    permission: Annotated[Literal["allow", "deny"], Argument("Permission.")] = "allow"
    principal: _Principal
    operation: Annotated[str, Argument("A Kafka operation, or ALL.", ("READ", "ALL"))]
    resource: Annotated[str, Argument(
        "TYPE:NAME as in who_can, or cluster. topic:* is all topics.", ("topic:payments",)
    )]  # fmt: skip
    pattern: Annotated[
        Literal["literal", "prefixed"],
        Argument("Whether NAME is the whole name or its beginning."),
    ] = "literal"
    host: Annotated[str, Argument("Client host; * is all.", ("10.0.0.7",))] = "*"


class Declared(NamedTuple):
    """An argument as a question declares it.

    Attributes:
        name: of the field.
        type: of its value: a text, a whole number, or whether something is wanted.
        choices: the only values that it can have, where they are listed.
        argument: what it is.
        is_required: it has no default.
        default: None where it has none.
    """

    name: str
    type: type
    choices: tuple[str, ...]
    argument: Argument
    is_required: bool
    default: object


_DECLARED: Final[dict[type, dict[str, Declared]]] = {}


def declared(question: type[Asked]) -> dict[str, Declared]:
    """Return the arguments of a question by name, what every tool takes first."""
    if question not in _DECLARED:
        hints = get_type_hints(question, include_extras=True)
        _DECLARED[question] = {
            field.name: _declared(field, *get_args(hints[field.name])) for field in fields(question)
        }
    return _DECLARED[question]


def _declared(field: Field[object], kind: type, argument: Argument) -> Declared:
    if NoneType in get_args(kind):
        kind, _ = get_args(kind)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    is_required = field.default is MISSING
    default = None if is_required else field.default
    return Declared(field.name, str if choices else kind, choices, argument, is_required, default)


OF_ALL: Final = frozenset(declared(Asked))
"""The names of what every tool takes."""
