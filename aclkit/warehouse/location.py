"""The value of --warehouse → the place of a warehouse: the only code that checks for "://"."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from aclkit.errors import UsageError
from aclkit.model.values import dataclass
from aclkit.runtime.object_stores import STORES, store_of
from aclkit.runtime.uri import has_password, is_remote, is_uri, shown

if TYPE_CHECKING:
    from aclkit.warehouse.storage import Storage


@dataclass(frozen=True)
class Location:
    """A folder of this machine, or a prefix of an object store.

    Attributes:
        given: it, as a command takes it; ``file://`` names a folder of this machine too.
    """

    given: str

    @cached_property
    def is_remote(self) -> bool:
        """Whether it is on an object store, where a lease stands for the lock."""
        return is_remote(self.given)

    @cached_property
    def text(self) -> str:
        """It, so that a path or a name can be appended; Spark knows S3 as ``s3a`` alone.

        Raises:
            UsageError: it holds a password, which is not shown; or it is a URI of no object store:
                of HDFS for instance, where nothing is put under a condition.
        """
        if not self.is_remote:
            return unquote(self.given.removeprefix(_LOCAL)) if is_uri(self.given) else self.given
        if has_password(self.given):
            raise UsageError(
                "The URI of the warehouse contains a password, which every user of this machine "
                "can read. Put it into Spark's configuration."
            )
        uri = self.given.rstrip("/")
        scheme = uri.partition("://")[0]
        store = STORES.get(scheme)
        if store is None:
            raise UsageError(
                f"{shown(self.given)}: expected a folder, or a URI of s3a, gs or abfss; a "
                f"warehouse cannot be on {scheme}"
            )
        return store.spark_uri(uri)

    def require_writable(self) -> None:
        """Insist that runs can write here.

        Raises:
            UsageError: on Google's store a condition is a generation, and aclkit puts by ETags.
        """
        store = store_of(self.text) if self.is_remote else None
        if store is not None and store.why_read_only is not None:
            raise UsageError(
                f"aclkit does not write to {shown(self.given)}: {store.why_read_only}. "
                "Write to a folder or to s3a://, and copy the folder there."
            )

    @property
    def folder(self) -> Path:
        """The folder on a local disk.

        Raises:
            UsageError: it is elsewhere.
        """
        if self.is_remote:
            raise UsageError(f"Expected a folder of this machine, found {self.text}")
        return Path(self.text).absolute()

    @cached_property
    def files(self) -> Storage:
        """Its files, by their paths within it."""
        # Here, so that the command line does not wait for either, nor local files for obstore.
        if self.is_remote:
            from aclkit.warehouse.object_storage import ObjectStorage

            return ObjectStorage(self.text)
        from aclkit.warehouse.storage import LocalStorage

        return LocalStorage(Path(self.text))

    def require_plain(self) -> None:
        """Refuse a path that deltalake takes for another one, or DuckDB for a pattern of several.

        Raises:
            UsageError: it holds such signs.
        """
        if found := _NOT_PLAIN.search(self.text):
            raise UsageError(
                f"{shown(self.text)!r} cannot be a warehouse: some engines read {found[0]!r} "
                "in it as another path. Choose a path without [ ] \\ ^ | * ?, control "
                "characters, and % before two hex digits."
            )

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def of_table(self, table: str) -> str:
        """Return where a table lies, as deltalake and Spark take it."""
        return f"{self.text}/{table}"


_NOT_PLAIN: Final = re.compile(r"%[0-9A-Fa-f]{2}|[\[\]\\^|*?\x00-\x1f\x7f]")
_LOCAL: Final = "file://"
