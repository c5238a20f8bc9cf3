"""A URI → its object store, and what Spark, obstore and pyarrow need to reach it.

A new kind of store is one entry of ``STORES``: how these name its buckets, what Spark needs to open
them, and what to say where one cannot be opened. The environment is the one place of endpoint,
region and credentials: obstore, deltalake and S3A read it themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from aclkit.errors import UsageError
from aclkit.model.values import dataclass
from aclkit.runtime.scratch import scratch
from aclkit.runtime.uri import split_query, split_scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """A kind of object store; this one is known by the same URIs to all, and needs no settings.

    Attributes:
        schemes: of its URIs.
        connector: Hadoop's artifact by which Spark opens it.
        credentials_advice: where its credentials come from.
        address_advice: which settings its address is made of.
        why_read_only: why runs do not write there, if they do not.
    """

    schemes: tuple[str, ...]
    connector: str
    credentials_advice: str
    address_advice: str = "Check its name."
    why_read_only: str | None = None

    @property
    def spark_schemes(self) -> tuple[str, ...]:
        """Those of the schemes that Spark knows, with the connector."""
        return self.schemes

    def spark_uri(self, uri: str) -> str:
        """Return a URI as Spark and deltalake take it."""
        return uri

    def plain_uri(self, uri: str) -> str:
        """Return a URI as obstore takes it."""
        return uri

    def arrow_uri(self, uri: str, _: Mapping[str, str]) -> str:
        """Return a URI as pyarrow takes it."""
        return uri

    def spark_options(self, _: str, __: Mapping[str, str]) -> dict[str, str]:
        """Return the settings with which a Spark session reaches a URI."""
        return {}

    def host(self, _: str) -> str | None:
        """Return the host that is asked, where the URI or the environment names it."""
        return None

    def where(self) -> str:
        """Write what a message about a URI adds: which endpoint was asked."""
        return ""

    def allows_http(self) -> bool:
        """Whether requests may go unencrypted, by the environment."""
        return False


VARIABLES: Final = {
    "endpoint": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "path_style": ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST",),
    "allow_http": ("AWS_ALLOW_HTTP",),
}
"""Key → the variables that set it; the first is filled where none does."""

_TRUE: Final = ("1", "true", "on", "yes", "y")


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


def s3_access(env: Mapping[str, str] = os.environ) -> S3Access:
    """Return the environment's settings for S3, as obstore and deltalake read them."""
    endpoint = said(env, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    return S3Access(
        endpoint=endpoint,
        region=said(env, *VARIABLES["region"]),
        path_style=not _is_true(env, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"),
        allow_http=_is_true(env, "AWS_ALLOW_HTTP"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class S3(ObjectStore):
    """S3, of AWS or of another store that speaks its protocol."""

    schemes: tuple[str, ...] = ("s3", "s3a", "s3n")
    connector: str = "hadoop-aws"
    address_advice: str = "Check AWS_ENDPOINT_URL and AWS_REGION, or [storage] of the settings."
    credentials_advice: str = (
        "Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for a role, AWS_SESSION_TOKEN "
        '(eval "$(aws configure export-credentials --format env)"), or give this '
        "machine a role."
    )

    @property
    def spark_schemes(self) -> tuple[str, ...]:
        """All but the oldest."""
        return self.schemes[:2]

    def spark_uri(self, uri: str) -> str:
        """Spark knows S3 as ``s3a`` alone."""
        return f"s3a://{split_scheme(uri)[1]}"

    def plain_uri(self, uri: str) -> str:
        """All but Spark know it as ``s3``."""
        return f"s3://{split_scheme(uri)[1]}"

    def spark_options(self, uri: str, env: Mapping[str, str]) -> dict[str, str]:
        """Return a session's settings.

        No credentials: S3A reads them where they are, and a session's settings are shown to many.
        """
        access = s3_access(env)
        options = dict(_LIMITS)
        if access.endpoint is not None:
            url = parsed_endpoint(access.endpoint, "AWS_ENDPOINT_URL")
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

    def arrow_uri(self, uri: str, env: Mapping[str, str]) -> str:
        """Return a URI with what pyarrow needs; the parameters of its own query come first."""
        access = s3_access(env)
        stem, query = split_query(uri)
        said, more = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True)), {}
        if access.region is not None and "region" not in said:
            more["region"] = access.region
        if access.endpoint is not None and "endpoint_override" not in said:
            parsed = parsed_endpoint(access.endpoint, "AWS_ENDPOINT_URL")
            url = urlsplit(_without_bucket(parsed, uri, access))
            more |= {"scheme": url.scheme, "endpoint_override": url.netloc}
        # As it was written: by its text it is found in messages, and taken out of them.
        every = "&".join(filter(None, (query.removeprefix("?"), urlencode(more))))
        return self.plain_uri(stem) + (f"?{every}" if every else "")

    def host(self, uri: str) -> str | None:
        """Return the host of the endpoint, or of AWS."""
        access = s3_access()
        with suppress(ValueError):
            return urlsplit(access.endpoint or f"https://s3.{access.region}.amazonaws.com").hostname
        return None

    def where(self) -> str:
        """Write which endpoint is asked, without what may be secret."""
        access = s3_access()
        if access.endpoint is None:
            return f" at AWS, region {access.region or _DEFAULT_REGION}"
        url = urlsplit(access.endpoint)
        return f" at {url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    def allows_http(self) -> bool:
        """AWS_ALLOW_HTTP says so."""
        return s3_access().allow_http


@dataclass(frozen=True, slots=True, kw_only=True)
class Azure(ObjectStore):
    """Azure's blobs; AZURE_STORAGE_USE_EMULATOR means Azurite on this machine in their place."""

    schemes: tuple[str, ...] = ("abfs", "abfss")
    connector: str = "hadoop-azure"
    credentials_advice: str = (
        "Set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID with its secret and AZURE_TENANT_ID."
    )

    def host(self, uri: str) -> str | None:
        """Return the host that the URI names, unless the emulator is asked."""
        return None if self.allows_http() else urlsplit(uri).hostname

    def where(self) -> str:
        """Write that the emulator is asked, if it is."""
        return " at the emulator of this machine" if self.allows_http() else ""

    def allows_http(self) -> bool:
        """The emulator alone is asked so."""
        return _is_true(os.environ, "AZURE_STORAGE_USE_EMULATOR")


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


def parsed_endpoint(text: str, where: str) -> SplitResult:
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


def said(env: Mapping[str, str], *names: str) -> str | None:
    """Return the first of some variables that is set."""
    return next((env[name] for name in names if env.get(name)), None)


def _is_true(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() in _TRUE


_GOOGLE: Final = ObjectStore(
    schemes=("gs",),
    connector="hadoop-gcp",
    credentials_advice=(
        "Set GOOGLE_APPLICATION_CREDENTIALS to a file, or give this machine an account."
    ),
    why_read_only=(
        "conditional writes on gs:// need generations, which aclkit does not send, so two runs "
        "could destroy each other's tables"
    ),
)
_ALL: Final[tuple[ObjectStore, ...]] = (S3(), _GOOGLE, Azure())
STORES: Final = {scheme: store for store in _ALL for scheme in store.schemes}
"""Scheme → its store."""


def store_of(uri: str) -> ObjectStore | None:
    """Return the store of a URI; None of a path, and of another kind of URI."""
    return STORES.get(split_scheme(uri)[0])


def is_s3(uri: str) -> bool:
    """Whether a URI names a bucket of S3.

    >>> is_s3("s3a://bucket/acls"), is_s3("gs://bucket"), is_s3("/data/s3")
    (True, False, False)
    """
    return isinstance(store_of(uri), S3)


def plain_uri(uri: str) -> str:
    """Return a URI as all but Spark know it.

    >>> plain_uri("s3a://bucket/acls"), plain_uri("gs://bucket"), plain_uri("hdfs://host/a")
    ('s3://bucket/acls', 'gs://bucket', 'hdfs://host/a')
    """
    store = store_of(uri)
    return uri if store is None else store.plain_uri(uri)


def spark_options(uri: str, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings with which a Spark session reaches a URI."""
    store = store_of(uri)
    return {} if store is None else store.spark_options(uri, env)


def arrow_uri(uri: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a URI as pyarrow takes it.

    >>> env = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_REGION": "eu-central-1"}
    >>> arrow_uri("s3a://bucket/log?region=x", env)
    's3://bucket/log?region=x&scheme=http&endpoint_override=127.0.0.1%3A9000'
    """
    store = store_of(uri)
    return uri if store is None else store.arrow_uri(uri, env)
