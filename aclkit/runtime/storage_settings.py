"""``[storage]`` of a settings file → the process environment, which all clients of a bucket read.

A settings file fills in what the environment lacks; it contains no secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from urllib.parse import urlsplit

from aclkit.errors import UsageError
from aclkit.runtime.notation import parse_toml, shown_key
from aclkit.runtime.object_stores import VARIABLES, parsed_endpoint, s3_access, said
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.uri import is_loopback

SECTION: Final = "storage"
"""The table of a settings file."""

_SECRET: Final = re.compile("secret|key|token|passw|credential|sas|signature|auth", re.IGNORECASE)
_REGION: Final = re.compile(r"[A-Za-z0-9-]{1,64}")


_single_writer: ContextVar[bool] = ContextVar("single_writer", default=False)


@contextmanager
def single_writer_assumed(is_assumed: bool) -> Iterator[None]:  # noqa: FBT001 -- as a flag sets it
    """Let runs write to a store that puts without conditions, for the time of a ``with``."""
    before = _single_writer.set(is_assumed)
    try:
        yield
    finally:
        _single_writer.reset(before)


def is_single_writer_assumed() -> bool:
    """Whether the user guarantees that only one run is at work at a time."""
    return _single_writer.get()


@contextmanager
def storage_said(
    table: object, where: str, env: MutableMapping[str, str] = os.environ
) -> Iterator[None]:
    """Let the environment hold the values of ``[storage]``, for the time of a ``with``."""
    filled = fill_environment(table, where, env)
    try:
        yield
    finally:
        for name in filled:
            env.pop(name, None)


def use_storage(file: str) -> None:
    """Let this process reach object storage as ``[storage]`` of a settings file configures it.

    Raises:
        UsageError: the file cannot be read, or its table is invalid.
    """
    fill_environment(parse_toml(read_text(file), file).get(SECTION, {}), file)


def fill_environment(
    table: object, where: str, env: MutableMapping[str, str] = os.environ
) -> list[str]:
    """Put ``[storage]`` into the environment, where a value is not set; return what was put.

    Args:
        table: as TOML has it.
        where: the file, for messages.
        env: the environment.

    Raises:
        UsageError: a key that is unknown or a secret, another type, no address, or one of plain
            HTTP beyond this machine without ``allow_http``.
    """
    values = _read(table, f"{where}: [{SECTION}]")
    new = {
        names[0]: values[key]
        for key, names in VARIABLES.items()
        if key in values and not said(env, *names)
    }
    endpoint = new.get(VARIABLES["endpoint"][0])
    if endpoint is not None and not s3_access({**env, **new}).allow_http:
        url = urlsplit(endpoint)
        if url.scheme == "http" and not is_loopback(url.hostname or ""):
            raise UsageError(
                f"{where}: [{SECTION}]: endpoint: {endpoint} is plain HTTP to another machine, "
                "so the network between can read everything. Use https://, or set allow_http "
                "= true."
            )
        if url.scheme == "http" and "allow_http" not in values:
            new["AWS_ALLOW_HTTP"] = "true"
    env.update(new)
    return [*new]


def _read(table: object, where: str) -> dict[str, str]:
    """Return the variables' texts for the keys of the table."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: expected a table, found {table!r}")
    content = {str(key).replace("-", "_"): value for key, value in table.items()}
    for key in content:
        if key not in VARIABLES and _SECRET.search(key):
            raise UsageError(
                f"{where}: {shown_key(key)} looks like a secret, but many can read a settings "
                "file. Set it in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), "
                "or give the machine a role."
            )
        if key not in VARIABLES:
            known = ", ".join(sorted(VARIABLES))
            raise UsageError(f"{where}: unknown {shown_key(key)}; expected some of {known}")
    return {key: _text_of(key, value, where) for key, value in content.items()}


def _text_of(key: str, value: object, where: str) -> str:
    """Return a value as its variable has it."""
    if key in ("path_style", "allow_http"):
        if not isinstance(value, bool):
            raise UsageError(f"{where}: {key}: expected true or false, found {value!r}")
        return str(value != (key == "path_style")).lower()
    if key == "endpoint":
        if not isinstance(value, str):
            raise UsageError(f"{where}: endpoint: expected a text, found {value!r}")
        return parsed_endpoint(value, f"{where}: endpoint").geturl()
    if not isinstance(value, str) or not _REGION.fullmatch(value):
        raise UsageError(
            f"{where}: region: expected a region such as eu-central-1, found {value!r}"
        )
    return value
