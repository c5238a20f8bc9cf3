"""Paths that a user named → documents: files, folders, globs and stdin. Reads only."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from glob import has_magic
from pathlib import Path
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired.model import Document
from aclkit.runtime.safe_read import LARGEST_DATA, UTF_16_MARKS, decode, too_large
from aclkit.runtime.uri import is_uri, shown

STDIN: Final = "-"

MOST_FILES: Final = 20_000
"""Files that folders and globs may name."""

LARGEST_OF_ALL: Final = 2 * LARGEST_DATA
"""Letters of all files together: they are kept while they are compared."""

_OPEN_FILES: Final = ("/dev/", "/proc/")
"""Where links are what a process has open: ``<(command)``, ``/dev/stdin``."""

_HIDDEN: Final = re.compile(r"\.[^.]")
"""A hidden name. Kubernetes mounts files as links into a folder such as ``..2026_11_28``."""

_ENDINGS: Final = frozenset(
    (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".tf", ".txt", ".sh", ".list")
)
"""Of a folder, files with these endings are read; a file that is named is read in any case."""

_APPLIED: Final = frozenset((".yaml", ".yml", ".json"))
"""Of a folder, hidden files with these endings are read too: ``kubectl apply -f`` applies them."""


def read_documents(
    paths: Sequence[str], read: Callable[[str], bytes]
) -> Iterator[tuple[Document, bool]]:
    """Yield each document, and whether it was named itself; each file once, in order.

    Files are often a stranger's, of a branch that is judged. So a symbolic link to what is not
    below the path that was named is refused, and so is a name of several lines.

    Args:
        paths: files, folders, globs or ``STDIN``.
        read: reads the bytes of a file.

    Folders are read with all folders below them. Hidden folders are passed over, such as ``.git``
    and ``.terraform``, hidden files that kubectl would not apply either, and files whose ending no
    format has.

    Raises:
        UsageError: a path names nothing or leads elsewhere, files are too large or too many, or
            stdin is a terminal.
        DataError: a file has the mark of UTF-16 and holds other bytes.
        SurroundingsError: a file cannot be read.
    """
    named = {path: True for path in paths if not _is_many(path)}
    for path in paths:
        if _is_many(path):
            named.update((found, False) for found in _files(path) if found not in named)
    folders = [*dict.fromkeys(_folder(path) for path in paths if _is_local(path))]
    letters = 0
    for path, is_named in _in_order(paths, named):
        if _is_local(path):
            _require_below(path, folders)
        document = _document(path, read)
        letters += len(document.text)
        if letters > LARGEST_OF_ALL:
            raise too_large("All files together", LARGEST_OF_ALL)
        yield document, is_named


def _is_local(path: str) -> bool:
    return path != STDIN and not is_uri(path)


def _folder(path: str) -> Path:
    """Return the real folder that a path names, or in which the files lie that it names.

    Raises:
        UsageError: it is written as one in the current folder, and a link leads out of there.
    """
    folder = Path(path)
    if not _is_many(path):
        folder = folder.parent
    while not folder.is_dir() and has_magic(str(folder)):
        folder = folder.parent
    here = Path.cwd()
    if Path(os.path.normpath(here / folder)).is_relative_to(here):
        _require_below(str(folder), [here.resolve()])
    return folder.resolve()


def _require_below(path: str, folders: Sequence[Path]) -> None:
    """Refuse a path that links lead out of all folders, or into a hidden one, such as ``.git``."""
    if path.startswith(_OPEN_FILES):
        return
    real = Path(path).resolve()
    for folder in folders:
        if real.is_relative_to(folder):
            added = {*real.relative_to(folder).parts} - {*Path(path).parts}
            if not any(_HIDDEN.match(part) for part in added):
                return
    raise UsageError(
        f"{shown(path)}: a symbolic link leads to another place than the one that was named. "
        "Name the file that it leads to, or replace the link by the file."
    )


def _in_order(paths: Sequence[str], named: dict[str, bool]) -> list[tuple[str, bool]]:
    """Return the files in the order in which the paths name them."""
    order = list(dict.fromkeys(each for path in paths for each in _expanded(path)))
    if len(order) > MOST_FILES:
        raise UsageError(f"Expected at most {MOST_FILES:,} files, found {len(order):,}.")
    return [(path, named.get(path, False)) for path in order]


def _expanded(path: str) -> list[str]:
    return _files(path) if _is_many(path) else [path]


def _is_many(path: str) -> bool:
    """Whether a path names several files; a file whose name is a glob names itself."""
    if path == STDIN or is_uri(path) or Path(path).is_file():
        return False
    return Path(path).is_dir() or has_magic(path)


def _files(path: str) -> list[str]:
    if Path(path).is_dir():
        return list(_below(path))
    found: list[str] = []
    for each in _globbed(path):
        found += _below(each) if Path(each).is_dir() else [each]
    if not found:
        raise UsageError(f"{shown(path)}: no file has such a name")
    return found


def _globbed(pattern: str) -> list[str]:
    root = Path(Path(pattern).anchor)
    try:
        return sorted(map(str, root.glob(str(Path(pattern).relative_to(root)))))
    except ValueError as error:
        raise UsageError(f"{shown(pattern)}: ** stands between slashes only") from error


def _below(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            is_hidden = name.startswith(".")
            if _ending(f"x{name}") in (_APPLIED if is_hidden else _ENDINGS):
                yield str(Path(root, name))


def _ending(name: str) -> str:
    """Return the ending of a file, that of what is packed in it."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _document(path: str, read: Callable[[str], bytes]) -> Document:
    name = "stdin" if path == STDIN else shown(path)
    if len(name.splitlines()) > 1:
        raise UsageError(f"Expected a file name of one line, found {name!a}.")
    data = _read_stdin() if path == STDIN else read(path)
    if not data.startswith(UTF_16_MARKS):
        return Document(name, data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    try:
        return Document(name, decode(data, name))
    except UsageError as error:
        raise DataError(str(error)) from None


def _read_stdin() -> bytes:
    if sys.stdin.isatty():
        raise UsageError("- reads stdin, and stdin is a terminal. Pass a file, or pipe one in.")
    data = sys.stdin.buffer.read(LARGEST_DATA + 1)
    if len(data) > LARGEST_DATA:
        raise too_large("stdin", LARGEST_DATA)
    return data
