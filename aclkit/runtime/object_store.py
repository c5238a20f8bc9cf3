"""What differs from one kind of object store to the next; see ``object_stores`` for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """A kind of object store; this one is known by the same URIs to all, and needs no settings.

    Attributes:
        schemes: of its URIs.
        connector: Hadoop's artifact by which Spark opens it.
        credentials_advice: where its credentials come from.
        address_advice: which settings its address is made of.
        why_read_only: why runs do not write there, if they do not.
        has_host: its URIs name the host that is asked.
    """

    schemes: tuple[str, ...]
    connector: str
    credentials_advice: str
    address_advice: str = "Check its name."
    why_read_only: str | None = None
    has_host: bool = False

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

    def host(self, uri: str) -> str | None:
        """Return the host that is asked, where the URI or the environment names it."""
        return urlsplit(uri).hostname if self.has_host else None

    def where(self) -> str:
        """Write what a message about a URI adds: which endpoint was asked."""
        return ""
