"""A URI → its object store, and all that differs from one kind of store to the next.

A new kind of store is one entry of ``STORES``: how Spark, obstore and pyarrow name its buckets,
what Spark needs to open them, and what to say where one cannot be opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from aclkit.runtime.s3 import S3
from aclkit.runtime.uri import split_scheme


class ObjectStore(Protocol):
    """A kind of object store."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes of its URIs."""

    @property
    def spark_schemes(self) -> tuple[str, ...]:
        """Those of them that Spark knows, with the connector."""

    @property
    def connector(self) -> str:
        """Hadoop's artifact that opens it."""

    @property
    def why_read_only(self) -> str | None:
        """Why runs do not write there, if they do not."""

    @property
    def address_advice(self) -> str:
        """Which settings its address is made of."""

    @property
    def credentials_advice(self) -> str:
        """Where its credentials come from."""

    def spark_uri(self, uri: str) -> str:
        """Return a URI as Spark and deltalake take it."""

    def plain_uri(self, uri: str) -> str:
        """Return a URI as obstore takes it."""

    def arrow_uri(self, uri: str, env: Mapping[str, str]) -> str:
        """Return a URI as pyarrow takes it."""

    def spark_options(self, uri: str, env: Mapping[str, str]) -> dict[str, str]:
        """Return the settings with which a Spark session reaches a URI."""

    def host(self, uri: str) -> str | None:
        """Return the host that is asked, where the URI or the environment names it."""

    def where(self) -> str:
        """Write what a message about a URI adds: which endpoint was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A store whose URIs are the same for all, and whose client needs no settings."""

    schemes: tuple[str, ...]
    connector: str
    credentials_advice: str
    why_read_only: str | None = None
    address_advice: str = "Check its name."
    has_host: bool = False

    @property
    def spark_schemes(self) -> tuple[str, ...]:
        return self.schemes

    def spark_uri(self, uri: str) -> str:
        return uri

    def plain_uri(self, uri: str) -> str:
        return uri

    def arrow_uri(self, uri: str, _: Mapping[str, str]) -> str:
        return uri

    def spark_options(self, *_: object) -> dict[str, str]:
        return {}

    def host(self, uri: str) -> str | None:
        return urlsplit(uri).hostname if self.has_host else None

    def where(self) -> str:
        return ""


_GOOGLE: Final = _Plain(
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
_AZURE: Final = _Plain(
    schemes=("abfs", "abfss"),
    connector="hadoop-azure",
    credentials_advice=(
        "Set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID with its secret and AZURE_TENANT_ID."
    ),
    has_host=True,
)
_ALL: Final[tuple[ObjectStore, ...]] = (S3(), _GOOGLE, _AZURE)
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
