"""What a client of a tool passes, as JSON → its arguments; unknown and invalid ones are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import NullableSchema

from aclkit.errors import UsageError
from aclkit.model.phrases import listed, most_like
from aclkit.model.visible import exact

LONGEST_TEXT: Final = 4_096
LONGEST_STATEMENT: Final = 16_384
LONGEST_POLICIES: Final = 32_768
MOST_ROWS: Final = 1_000

_Parsed = TypeVar("_Parsed", bound="Arguments")

Decision = Literal["ALLOWED", "DENIED", "both"]
Severity = Literal["high", "medium", "low", "info"]

_Resource = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description="topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, "
        "user:NAME, or cluster.",
        examples=["topic:payments"],
    ),
]
_Principal = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description="A principal with its type. User:<any-other> stands for every principal that "
        "no ACL names.",
        examples=["User:alice"],
    ),
]
_Operation = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description="A Kafka operation.",
        examples=["READ", "ALTER_CONFIGS"],
    ),
]
_AnyOperation = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description="A Kafka operation, or ANY for all of them.",
        examples=["READ", "ANY"],
    ),
]
_Host = Annotated[
    str | None,
    Field(max_length=LONGEST_TEXT, description="Client IP address.", examples=["10.0.0.7"]),
]
_Decision = Annotated[Decision, Field(description="Which decisions to list.")]
_Moment = Annotated[
    str | None,
    Field(
        max_length=64,
        description="A log offset or an ISO 8601 time. Default: the newest run.",
        examples=["900", "2026-11-20T18:00:00Z"],
    ),
]


class Arguments(BaseModel):
    """What all tools take."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    cluster: Annotated[
        str | None,
        Field(
            max_length=LONGEST_TEXT,
            description="Cluster id. Needed only if the warehouse has several clusters.",
        ),
    ] = None
    limit: Annotated[
        int,
        Field(
            ge=1,
            le=MOST_ROWS,
            description="Most rows of each list in the answer. cut has the full numbers.",
        ),
    ] = 25


class WhoCan(Arguments):
    """Who can perform an operation on a resource."""

    operation: _AnyOperation
    resource: Annotated[
        str,
        Field(
            max_length=LONGEST_TEXT,
            description="topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, "
            "user:NAME, or cluster. With prefix: a type alone, such as topic.",
            examples=["topic:payments", "cluster"],
        ),
    ]
    prefix: Annotated[
        str | None,
        Field(
            max_length=LONGEST_TEXT,
            description="Ask about all names that start with this text, future names too.",
            examples=["payments."],
        ),
    ] = None
    host: _Host = None
    decision: _Decision = "ALLOWED"


class WhatCan(Arguments):
    """What a principal can do."""

    principal: _Principal
    resource: Annotated[
        str | None,
        Field(
            max_length=LONGEST_TEXT,
            description="Only this resource, or this type, such as topic.",
            examples=["topic", "topic:payments"],
        ),
    ] = None
    host: _Host = None
    decision: _Decision = "ALLOWED"


class Why(Arguments):
    """Why one access is allowed or denied."""

    principal: _Principal
    operation: _Operation
    resource: _Resource
    host: _Host = None
    at: _Moment = None


class History(Arguments):
    """How one access changed over time."""

    principal: _Principal
    operation: _Operation
    resource: _Resource
    host: _Host = None


class Changes(Arguments):
    """What runs changed."""

    since: Annotated[
        str | None,
        Field(
            max_length=64,
            description="All runs after this run number or ISO 8601 time. Default: the last run.",
            examples=["41", "2026-11-20T00:00:00Z"],
        ),
    ] = None


class FindingsOf(Arguments):
    """Which findings are listed."""

    severity: Annotated[
        Severity | None, Field(description="Only findings of this severity or higher.")
    ] = None
    kind: Annotated[
        str | None,
        Field(
            max_length=LONGEST_TEXT,
            description="Only findings of this kind.",
            examples=["public-access"],
        ),
    ] = None


class Denials(Arguments):
    """Which refused accesses are listed."""

    only_new: Annotated[
        bool, Field(description="Only what the last reading of the log saw first.")
    ] = False
    include_listings: Annotated[
        bool,
        Field(description="Also what was only left out of an answer, and what is allowed by now."),
    ] = False
    min_lines: Annotated[int, Field(ge=1, description="Fewest lines of the log.")] = 1


class AddAcl(Arguments):
    """An ACL to come."""

    permission: Annotated[Literal["allow", "deny"], Field(description="Permission.")] = "allow"
    principal: _Principal
    operation: Annotated[
        str,
        Field(
            max_length=LONGEST_TEXT,
            description="A Kafka operation, or ALL.",
            examples=["READ", "ALL"],
        ),
    ]
    resource: Annotated[
        str,
        Field(
            max_length=LONGEST_TEXT,
            description="TYPE:NAME as in who_can, or cluster. topic:* is all topics.",
            examples=["topic:payments"],
        ),
    ]
    pattern: Annotated[
        Literal["literal", "prefixed"],
        Field(description="Whether NAME is the whole name or its beginning."),
    ] = "literal"
    host: Annotated[
        str,
        Field(max_length=LONGEST_TEXT, description="Client host; * is all.", examples=["10.0.0.7"]),
    ] = "*"


class Prove(Arguments):
    """A statement to prove for every name."""

    claim: Annotated[
        Literal["never", "same", "no_more", "no_less"],
        Field(
            description="never: the policies hold. same: two states allow the same. no_more: after "
            "allows nothing that before denies. no_less: after allows all that before allows."
        ),
    ]
    policies: Annotated[
        str | None,
        Field(
            max_length=LONGEST_POLICIES,
            description="For never: the text of a TOML file with policies, as aclkit assert reads.",
            examples=[
                '[[never]]\nname = "no carol on payments"\nprincipals = ["User:carol"]\n'
                'operations = ["READ", "WRITE"]\nresources = ["topic:payments.*"]'
            ],
        ),
    ] = None
    before: _Moment = None
    after: _Moment = None
    compare_settings: Annotated[
        bool, Field(description="Read each state with the broker settings of its own time.")
    ] = False


class TablesOf(Arguments):
    """Which tables are described."""

    table: Annotated[
        str | None,
        Field(
            max_length=128,
            description="Describe the columns of this table or view. Default: list all.",
            examples=["explain"],
        ),
    ] = None


class Sql(Arguments):
    """A statement."""

    statement: Annotated[
        str,
        Field(
            max_length=LONGEST_STATEMENT,
            description="One SELECT in DuckDB's SQL. Use the tool tables for names.",
            examples=["SELECT principal, count(*) AS acls FROM acl_current GROUP BY ALL"],
        ),
    ]


def parse_arguments(kind: type[_Parsed], given: Mapping[str, Any]) -> _Parsed:
    """Read the arguments of a tool; a name may be written as results show it.

    Raises:
        UsageError: one is missing, unknown or invalid.
    """
    try:
        return kind.model_validate({name: _exact(name, value) for name, value in given.items()})
    except ValidationError as error:
        raise UsageError("\n".join(_problems(kind, error.errors(include_url=False)))) from None


def _exact(name: str, value: object) -> object:
    """Return a text without the marks that make it visible.

    Raises:
        UsageError: it holds what no name can hold.
    """
    if not isinstance(value, str):
        return value
    text = exact(value)
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"Invalid {name[:40]!r}: no NUL and no half surrogates.")
    return text


def _problems(kind: type[Arguments], errors: list[ErrorDetails]) -> Iterator[str]:
    known = list(kind.model_fields)
    for error in errors:
        name = str(error["loc"][0])[:40]
        if error["type"] == "extra_forbidden":
            near = most_like(name, known)
            meant = f" Did you mean {near}?" if near else ""
            yield f"Unknown argument {name!r}.{meant} Arguments: {listed(known)}."
        elif error["type"] == "missing":
            yield f"The argument {name} is missing: {_about(kind, name)}"
        else:
            yield f"Invalid argument {name}: {error['msg']}. {_about(kind, name)}"


def _about(kind: type[Arguments], name: str) -> str:
    return str(kind.model_fields[name].description)


class _Plain(GenerateJsonSchema):
    """Schemas that all clients read: what can be left out is not called null."""

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        """Return the schema of what is not null."""
        return self.generate_inner(schema["schema"])


def schema_of(kind: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    whole = kind.model_json_schema(schema_generator=_Plain)
    properties = {
        name: {
            key: value
            for key, value in about.items()
            if key != "title" and (key, value) != ("default", None)
        }
        for name, about in whole["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": whole.get("required", []),
        "additionalProperties": False,
    }
