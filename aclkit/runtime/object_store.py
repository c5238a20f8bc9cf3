"""``[storage]`` of a settings file ↔ the process environment → Spark's settings for a bucket.

The environment is the one place of endpoint, region and credentials: obstore, deltalake and S3A
read it themselves. A settings file fills in what the environment lacks; it contains no secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from aclkit.errors import UsageError
from aclkit.runtime.notation import parse_toml, shown_key
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.scratch import scratch
from aclkit.runtime.uri import is_loopback, split_query, split_scheme

SECTION: Final = "storage"
"""The table of a settings file."""

_VARIABLES: Final = {
    "endpoint": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "path_style": ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST",),
    "allow_http": ("AWS_ALLOW_HTTP",),
}
"""Key → the variables that set it; the first is filled where none does."""

_SECRET: Final = re.compile("secret|key|token|passw|credential|sas|signature|auth", re.IGNORECASE)
_REGION: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_TRUE: Final = ("1", "true", "on", "yes", "y")
_S3: Final = ("s3", "s3a", "s3n")


@dataclass(frozen=True, slots=True)
class S3Access:
    """How S3 is reached, from whichever source.

    Attributes:
        endpoint: None is AWS itself.
        region: None is not set.
        path_style: the bucket is the first part of the path, not of the host's name.
        allow_http: requests may go unencrypted.
    """

    endpoint: str | None
    region: str | None
    path_style: bool
    allow_http: bool


def is_s3(uri: str) -> bool:
    """Whether a URI names a bucket of S3.

    >>> is_s3("s3a://bucket/acls"), is_s3("gs://bucket"), is_s3("/data/s3")
    (True, False, False)
    """
    return split_scheme(uri)[0] in _S3


def as_s3(uri: str) -> str:
    """Return a URI as all but Spark know it: a bucket of S3 is ``s3://``, whatever it was called.

    >>> as_s3("s3a://bucket/acls"), as_s3("gs://bucket")
    ('s3://bucket/acls', 'gs://bucket')
    """
    return f"s3://{split_scheme(uri)[1]}" if is_s3(uri) else uri


def s3_access(env: Mapping[str, str] = os.environ) -> S3Access:
    """Return the environment's settings for S3, as obstore and deltalake read them."""
    endpoint = _said(env, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    return S3Access(
        endpoint=endpoint,
        region=_said(env, *_VARIABLES["region"]),
        path_style=not _is_true(env, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"),
        allow_http=_is_true(env, "AWS_ALLOW_HTTP"),
    )


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
    said: object, where: str, env: MutableMapping[str, str] = os.environ
) -> Iterator[None]:
    """Let the environment hold the values of ``[storage]``, for the time of a ``with``."""
    filled = fill_environment(said, where, env)
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
    said: object, where: str, env: MutableMapping[str, str] = os.environ
) -> list[str]:
    """Put ``[storage]`` into the environment, where a value is not set; return what was put.

    Args:
        said: the table, as TOML has it.
        where: the file, for messages.
        env: the environment.

    Raises:
        UsageError: a key that is unknown or a secret, another type, no address, or one of plain
            HTTP beyond this machine without ``allow_http``.
    """
    values = _read(said, f"{where}: [{SECTION}]")
    new = {
        names[0]: values[key]
        for key, names in _VARIABLES.items()
        if key in values and not _said(env, *names)
    }
    endpoint = new.get(_VARIABLES["endpoint"][0])
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


def spark_options(uri: str, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings with which a Spark session reaches a URI as the environment configures.

    No credentials: S3A reads them where they are, and a session's settings are shown to many.
    """
    if not is_s3(uri):
        return {}
    access = s3_access(env)
    options = dict(_LIMITS)
    if access.endpoint is not None:
        url = _parsed_endpoint(access.endpoint, "AWS_ENDPOINT_URL")
        options |= {
            "endpoint": _without_bucket(url, uri, access),
            "endpoint.region": access.region or _DEFAULT_REGION,
            "path.style.access": str(access.path_style).lower(),
            "connection.ssl.enabled": str(url.scheme == "https").lower(),
        }
    elif access.region is not None:
        options["endpoint.region"] = access.region
    options["buffer.dir"] = str(scratch() / "s3a")
    said = {f"spark.hadoop.fs.s3a.{name}": value for name, value in options.items()}
    return {"spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem", **said}


def arrow_uri(uri: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a URI as pyarrow takes it; the S3 parameters of its own query come first.

    >>> env = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_REGION": "eu-central-1"}
    >>> arrow_uri("s3a://bucket/log?region=x", env)
    's3://bucket/log?region=x&scheme=http&endpoint_override=127.0.0.1%3A9000'
    """
    if not is_s3(uri):
        return uri
    access = s3_access(env)
    stem, query = split_query(uri)
    said, more = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True)), {}
    if access.region is not None and "region" not in said:
        more["region"] = access.region
    if access.endpoint is not None and "endpoint_override" not in said:
        parsed = _parsed_endpoint(access.endpoint, "AWS_ENDPOINT_URL")
        url = urlsplit(_without_bucket(parsed, uri, access))
        more |= {"scheme": url.scheme, "endpoint_override": url.netloc}
    # As it was written: by its text it is found in messages, and taken out of them.
    every = "&".join(filter(None, (query.removeprefix("?"), urlencode(more))))
    return as_s3(stem) + (f"?{every}" if every else "")


_DEFAULT_REGION: Final = "us-east-1"
"""The region that obstore takes where none is set."""

_LIMITS: Final = {
    "aws.credentials.provider": ",".join(
        (
            "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
            "software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider",
            "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider",
        )
    ),
    # The default, for analytics, fails where a connection ends in the middle of an answer.
    "input.stream.type": "classic",
    # By default a request is retried for minutes before an error is reported.
    "attempts.maximum": "3",
    "retry.limit": "4",
    "retry.interval": "200ms",
    "retry.throttle.limit": "8",
    "retry.throttle.interval": "200ms",
    "connection.establish.timeout": "5s",
    "connection.timeout": "30s",
    "connection.acquisition.timeout": "30s",
}


def _read(said: object, where: str) -> dict[str, str]:
    """Return the variables' texts for the keys of the table."""
    if not isinstance(said, Mapping):
        raise UsageError(f"{where}: expected a table, found {said!r}")
    content = {str(key).replace("-", "_"): value for key, value in said.items()}
    for key in content:
        if key not in _VARIABLES and _SECRET.search(key):
            raise UsageError(
                f"{where}: {shown_key(key)} looks like a secret, but many can read a settings "
                "file. Set it in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), "
                "or give the machine a role."
            )
        if key not in _VARIABLES:
            known = ", ".join(sorted(_VARIABLES))
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
        return _parsed_endpoint(value, f"{where}: endpoint").geturl()
    if not isinstance(value, str) or not _REGION.fullmatch(value):
        raise UsageError(
            f"{where}: region: expected a region such as eu-central-1, found {value!r}"
        )
    return value


def _parsed_endpoint(text: str, where: str) -> SplitResult:
    """Return an endpoint's address; one with a password is not shown.

    Raises:
        UsageError: it is none, or holds what belongs elsewhere.
    """
    try:
        url = urlsplit(text)
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_address = False
    if "@" in text or "?" in text or "#" in text:
        raise UsageError(
            f"{where}: expected only an address, https://HOST, found one with a user or a "
            "query (not shown here). Put secrets into the environment."
        )
    if not is_address:
        raise UsageError(f"{where}: expected an address such as https://HOST:PORT, found {text!r}")
    return url._replace(path=url.path.rstrip("/"))


def _without_bucket(url: SplitResult, uri: str, access: S3Access) -> str:
    """Return the endpoint as S3A takes it, which puts the bucket before the host itself."""
    bucket = split_scheme(uri)[1].partition("/")[0]
    if access.path_style or not url.netloc.startswith(f"{bucket}."):
        return url.geturl()
    return url._replace(netloc=url.netloc.removeprefix(f"{bucket}.")).geturl()


def _said(env: Mapping[str, str], *names: str) -> str | None:
    return next((env[name] for name in names if env.get(name)), None)


def _is_true(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() in _TRUE
