"""A question as it is declared → the JSON schema of its tool, and what a client passes, as read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import NullableSchema

from aclkit.errors import UsageError
from aclkit.model.phrases import listed, most_like
from aclkit.model.values import dataclass
from aclkit.model.visible import exact
from aclkit.questions.arguments import LONGEST_TIME, Argument, Asked, Declared, declared

LONGEST_STATEMENT: Final = 16_384
LONGEST_POLICIES: Final = 32_768

_Parsed = TypeVar("_Parsed", bound=Asked)
_Moment = Annotated[str | None, Argument(
    "A log offset or an ISO 8601 time. Default: the newest run.",
    ("900", "2026-11-20T18:00:00Z"), LONGEST_TIME,
)]  # fmt: skip
_POLICIES: Final = """\
[[never]]
name = "no carol on payments"
principals = ["User:carol"]
operations = ["READ", "WRITE"]
resources = ["topic:payments.*"]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove(Asked):
    """A statement to prove for every name."""

    claim: Annotated[Literal["never", "same", "no_more", "no_less"], Argument(
        "never: the policies hold. same: two states allow the same. no_more: after allows nothing "
        "that before denies. no_less: after allows all that before allows."
    )]  # fmt: skip
    policies: Annotated[str | None, Argument(
        "For never: the text of a TOML file with policies, as aclkit assert reads.", (_POLICIES,),
        LONGEST_POLICIES,
    )] = None  # fmt: skip
    before: _Moment = None
    after: _Moment = None
    compare_settings: Annotated[
        bool, Argument("Read each state with the broker settings of its own time.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesOf(Asked):
    """Which tables are described."""

    table: Annotated[str | None, Argument(
        "Describe the columns of this table or view. Default: list all.", ("explain",), 128
    )] = None  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sql(Asked):
    """A statement."""

    statement: Annotated[str, Argument(
        "One SELECT in DuckDB's SQL. Use the tool tables for names.",
        ("SELECT principal, count(*) AS acls FROM acl_current GROUP BY ALL",), LONGEST_STATEMENT,
    )]  # fmt: skip


def parse_arguments(question: type[_Parsed], given: Mapping[str, Any]) -> _Parsed:
    """Read the arguments of a tool; a name may be written as results show it.

    Raises:
        UsageError: one is missing, unknown or invalid.
    """
    plain = {name: _exact(name, value) for name, value in given.items()}
    try:
        read = _model(question).model_validate(plain)
    except ValidationError as error:
        raise UsageError("\n".join(_problems(question, error.errors(include_url=False)))) from None
    return question(**dict(read))


_MODELS: Final[dict[type, type[BaseModel]]] = {}
"""What checks the arguments of each question, made when the first one comes."""


def _model(question: type[Asked]) -> type[BaseModel]:
    if question not in _MODELS:
        config = ConfigDict(extra="forbid", strict=True, frozen=True)
        taken: dict[str, Any] = {name: _taken(each) for name, each in declared(question).items()}
        _MODELS[question] = create_model(question.__name__, __config__=config, **taken)
    return _MODELS[question]


def _taken(each: Declared) -> tuple[object, object]:
    """Return the type of an argument, and its default or what marks that it has none."""
    argument = each.argument
    kind: Any = Literal[each.choices] if each.choices else each.type
    is_text = kind is str
    about = Field(
        description=argument.about,
        examples=list(argument.examples) or None,
        max_length=argument.longest if is_text else None,
        ge=argument.least,
        le=argument.most,
    )
    if each.is_required:
        return Annotated[kind, about], ...
    return Annotated[kind if each.default is not None else kind | None, about], each.default


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


def _problems(question: type[Asked], errors: list[ErrorDetails]) -> Iterator[str]:
    known = {name: each.argument.about for name, each in declared(question).items()}
    for error in errors:
        name = str(error["loc"][0])[:40]
        if error["type"] == "extra_forbidden":
            near = most_like(name, known)
            meant = f" Did you mean {near}?" if near else ""
            yield f"Unknown argument {name!r}.{meant} Arguments: {listed([*known])}."
        elif error["type"] == "missing":
            yield f"The argument {name} is missing: {known[name]}"
        else:
            yield f"Invalid argument {name}: {error['msg']}. {known[name]}"


class _Plain(GenerateJsonSchema):
    """Schemas that all clients read: what can be left out is not called null."""

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        """Return the schema of what is not null."""
        return self.generate_inner(schema["schema"])


def schema_of(question: type[Asked]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    whole = _model(question).model_json_schema(schema_generator=_Plain)
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
