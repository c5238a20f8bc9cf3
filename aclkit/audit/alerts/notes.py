"""What receivers of alerts know: in the warehouse's file, or here as long as that is not written.

News is more than its noting. So a file that cannot be read or written stops no alert: what was
sent is kept in this process, written as soon as that is possible, and named as not noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from aclkit.errors import AclkitError, UnnotedError, first_line
from aclkit.warehouse.location import Location
from aclkit.warehouse.watch_state import ALERTED, FOLDER, AlertedFile, Entry, alerted_file

TOLD: Final = "told"
"""The part of an entry that holds what each receiver was alerted."""
FAILING: Final = "failing"
"""The part that holds since when each receiver knows that the sources cannot be read."""

_Key = tuple[str, str, str]
"""The cluster, the part, and the receiver in it."""


@dataclass(kw_only=True)
class Notes:
    """Reads and writes what receivers know.

    Attributes:
        place: the warehouse.
        lock_timeout: seconds to wait for another process that sends.
    """

    place: Location
    lock_timeout: float
    _owed: dict[_Key, tuple[object, object]] = field(default_factory=dict)
    _file: AlertedFile | None = None
    _why: str = ""

    @property
    def name(self) -> str:
        """The file, for messages."""
        return f"{self.place}/{FOLDER}/{ALERTED}"

    @property
    def is_written(self) -> bool:
        """Whether the file has all that this process has noted."""
        return not self._owed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the one process that sends; what is not in the file yet is written first.

        Raises:
            SurroundingsError: another process that sends does not end.
        """
        with alerted_file(self.place, self.lock_timeout) as self._file:
            try:
                for (cluster, part, key), (seen, value) in [*self._owed.items()]:
                    if part_of(self._in_file(cluster)[0], part).get(key) == seen:
                        self.write(cluster, part, key, value)
                    else:  # another process has written since
                        del self._owed[cluster, part, key]
                yield
            finally:
                self._file = None

    def read(self, cluster: str) -> tuple[Entry, str]:
        """Return what is known of a cluster, and what is wrong with the file."""
        entry, problem = self._in_file(cluster)
        for (owner, part, key), (seen, value) in self._owed.items():
            if owner == cluster and part_of(entry, part).get(key) == seen:
                entry = _with(entry, part, key, value)
        return entry, problem

    def write(self, cluster: str, part: str, key: str, value: object) -> None:
        """Note a value; where that fails it is kept here. The file has to be held."""
        file = self._file or AlertedFile(self.place)
        owed = self._owed.pop((cluster, part, key), None)
        seen = part_of(self._in_file(cluster)[0], part).get(key) if owed is None else owed[0]
        try:
            file.update(cluster, lambda entry: _with(entry, part, key, value))
        except (AclkitError, OSError) as error:
            self._owed[cluster, part, key] = (seen, value)
            self._why = first_line(error)

    def require_written(self, done: str) -> None:
        """Insist that all is in the file.

        Args:
            done: what was done all the same, as a sentence.

        Raises:
            UnnotedError: it is not.
        """
        if self._owed:
            why = self._why.rstrip(".")
            raise UnnotedError(
                f"{done} That could not be noted in {self.name}, so the next alert can have the "
                f"same again, or miss what was fixed and comes back: {why}."
            )

    def _in_file(self, cluster: str) -> tuple[Entry, str]:
        try:
            return (self._file or AlertedFile(self.place)).read().get(cluster, {}), ""
        except ValueError as error:
            return {}, f"is malformed ({error})"
        except OSError as error:
            return {}, f"cannot be read ({error.strerror or error})"


def part_of(entry: Entry, part: str) -> Mapping[str, Any]:
    """Return a part of an entry; an empty one where it has none."""
    found = entry.get(part)
    return found if isinstance(found, dict) else {}


def _with(entry: Entry, part: str, key: str, value: object) -> Entry:
    """Return an entry with one value set; of an older aclkit's nothing is kept."""
    kept = {name: part_of(entry, name) for name in (TOLD, FAILING)}
    return {**kept, part: {**kept[part], key: value}}
