"""A URI → its object store, and what that store makes of it.

A new kind of store is one entry of ``STORES``: how Spark, obstore and pyarrow name its buckets,
what Spark needs to open them, and what to say where one cannot be opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from aclkit.runtime.object_store import ObjectStore
from aclkit.runtime.s3 import S3
from aclkit.runtime.uri import split_scheme

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
_AZURE: Final = ObjectStore(
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
