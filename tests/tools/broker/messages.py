"""A request's name and fields → the message, by kafka-python's classes.

Those of requests that it does not know are made of the schemas in Kafka's own jar.
"""

from __future__ import annotations

import json
import re
import zipfile
from functools import cache
from importlib import import_module
from typing import Any, Final
from unittest import mock

from kafka.protocol import admin, consumer, metadata, producer
from kafka.protocol.api_message import ApiMessage

from tests.tools.broker.jars import BROKERS, TOOLS

_MODULES: Final = (admin, consumer, metadata, producer)
_COMMENT: Final = re.compile(r"(?m)^\s*//.*$")
_answers: list[object] = []
"""The classes of answers: kafka-python's registry holds them weakly."""


@cache
def message(name: str) -> Any:
    """The class of a request, such as ``CreateDelegationToken``."""
    _answers.append(_make(f"{name}Response"))
    return _make(f"{name}Request")


def _make(name: str) -> Any:
    schema = _schema(name)
    with mock.patch("kafka.protocol.api_data.load_json", return_value=schema):
        return type(ApiMessage)(name, (ApiMessage,), {})


def _schema(name: str) -> dict[str, Any]:
    jars = BROKERS[TOOLS]
    (jar,) = (one for one in jars.digests if "kafka-clients" in one)
    with zipfile.ZipFile(jars.folder() / jar) as archive:
        text = archive.read(f"common/message/{name}.json").decode()
    schema: dict[str, Any] = json.loads(_COMMENT.sub("", text))
    shared = {each["name"]: each["fields"] for each in schema.get("commonStructs", [])}
    import_module("kafka.protocol.schemas.load_json")._resolve_common_structs(
        schema["fields"], shared
    )
    return schema


def request(
    name: str, max_version: int | None = None, min_version: int | None = None, **fields: object
) -> Any:
    """Make a request of dicts and lists: kafka-python's class where it has one."""
    found = (getattr(module, f"{name}Request", None) for module in _MODULES)
    kind = next((each for each in found if each is not None), None) or message(name)
    made = {field: _value(kind._struct.fields[field], value) for field, value in fields.items()}
    return kind(**made, max_version=max_version, min_version=min_version)


def _value(field: Any, value: Any) -> Any:
    if isinstance(value, list) and field.is_struct_array():
        return [_value(field, each) for each in value]
    if not isinstance(value, dict):
        return value
    return field.data_class(
        **{name: _value(field.fields[name], each) for name, each in value.items()}
    )
