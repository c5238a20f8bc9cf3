"""The kinds of source of ``--source KIND:PATH``: the one list of them. Pure.

A new kind is a line here and a reader in ``readers``; of a kind that is more than one file,
``items`` lists the files.
"""

from __future__ import annotations

from typing import Final

from aclkit.model.values import dataclass

METADATA_LOG, DUMP_LOG, RECORDS = "metadata-log", "dump-log", "records"
ACLS_LIST, LIVE = "acls-list", "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """A kind of source.

    Attributes:
        name: as written before the colon.
        path: what follows the colon, where that is not simply a file.
        is_log: its records have offsets; all others are whole lists of ACLs.
        is_file: it is read from files, and what came from it can be forgotten.
    """

    name: str
    path: str | None = None
    is_log: bool = False
    is_file: bool = True


SOURCE_KINDS: Final = {
    kind.name: kind
    for kind in (
        SourceKind(name=METADATA_LOG, path="directory, .log or .checkpoint", is_log=True),
        SourceKind(name=DUMP_LOG, is_log=True),
        SourceKind(name=RECORDS, is_log=True),
        SourceKind(name=ACLS_LIST),
        SourceKind(name=LIVE, path="HOST:PORT", is_file=False),
    )
}


def kinds_words(path: str = " ({})", *, of_files: bool = True) -> str:
    """Write the kinds for a help text, with what follows the colon of some.

    >>> kinds_words(":{}", of_files=False)
    'metadata-log, dump-log, records, acls-list, or live:HOST:PORT'
    """
    *before, last = (
        kind.name + (path.format(kind.path) if kind.path and of_files >= kind.is_file else "")
        for kind in SOURCE_KINDS.values()
    )
    return f"{', '.join(before)}, or {last}"
