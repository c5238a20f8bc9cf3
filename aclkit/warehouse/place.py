"""What --warehouse says → the place of a warehouse: who else would ask for "://" asks this."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aclkit.errors import UsageError
from aclkit.runtime.uri import is_uri

if TYPE_CHECKING:
    from aclkit.warehouse.storage import Files


@dataclass(frozen=True)
class Place:
    """A folder of this machine, or a URI at which runs and Spark read and write.

    Attributes:
        given: it, as a command takes it.
    """

    given: str

    @cached_property
    def is_uri(self) -> bool:
        """Whether Spark alone writes there, and a lease stands for the lock."""
        return is_uri(self.given)

    @cached_property
    def text(self) -> str:
        """It, for a path or a name to be put behind it."""
        return self.given.rstrip("/") if self.is_uri else self.given

    @property
    def folder(self) -> Path:
        """The folder on a local disk, which a ``file://`` URI names too.

        Raises:
            UsageError: it is elsewhere.
        """
        if not self.is_uri:
            return Path(self.text).absolute()
        if not self.text.startswith(_LOCAL):
            raise UsageError(
                f"{self.text} is not on a local disk, and DuckDB answers from local files only: "
                "copy the warehouse, or let Spark answer where the command has it: --engine spark"
            )
        return Path(unquote(self.text.removeprefix(_LOCAL))).absolute()

    @cached_property
    def files(self) -> Files:
        """Its files, by their paths within it."""
        # Here, so that the command line does not wait for either, nor local files for pyarrow's.
        if self.is_uri:
            from aclkit.warehouse.uri_files import UriFiles

            return UriFiles(self.text)
        from aclkit.warehouse.storage import LocalStorage

        return LocalStorage(Path(self.text))

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def of_table(self, table: str) -> str:
        """Return where a table lies, as deltalake and Spark take it."""
        return f"{self.text}/{table}"


_LOCAL = "file://"
