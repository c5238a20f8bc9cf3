"""What a command is given for a side of a proof → the warehouse, the moment or the file meant."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from aclkit.cli.context import Context
from aclkit.cli.options import parse_moment
from aclkit.errors import UsageError
from aclkit.pipeline.sources import files
from aclkit.questions.prove.proof_settings import Side
from aclkit.questions.prove.read import EXPECTED, read_file_side, read_warehouse_side
from aclkit.runtime.uri import is_uri, shown

FORMS = (
    "A side is a warehouse (what it has published), WAREHOUSE@OFFSET, WAREHOUSE@TIME, @OFFSET or "
    "@TIME of --warehouse, or a file."
)


class Meant(NamedTuple):
    """What a text names.

    Attributes:
        path: of a file, or of a warehouse.
        is_warehouse: it is a folder.
        at: the moment of a warehouse that is meant; None is what is published.
    """

    path: str
    is_warehouse: bool
    at: int | datetime | None = None


def read_sides(context: Context, texts: Sequence[str]) -> list[Side]:
    """Read what is named."""
    meant = [find_meant(text, context) for text in texts]
    if not any(each.is_warehouse for each in meant):
        return [read_file_side(each.path) for each in meant]
    sides = [
        read_warehouse_side(each.path, context.cluster, each.at)
        if each.is_warehouse
        else read_file_side(each.path)
        for each in meant
    ]
    context.standing = [side.as_of for side in sides if side.as_of is not None]
    return sides


def find_meant(text: str, context: Context) -> Meant:
    """Distinguish a warehouse, a moment of one, and a file by what the path holds.

    Raises:
        UsageError: nothing exists there, the text is ambiguous, or the moment is invalid.
    """
    stem, mark, moment = text.rpartition("@")
    is_folder = _is_folder(text, context)
    if is_folder is not None:
        if mark and stem and _is_moment(moment) and _is_folder(stem, context):
            raise UsageError(
                f"{shown(text)} is there itself, and so is {shown(stem)}, of which "
                f"{moment} may be meant; expected a text that can be meant in one way only"
            )
        return Meant(text, is_folder)
    path = stem or (context.require_warehouse(to_write=False) if mark else "")
    is_folder = _is_folder(path, context) if mark else None
    if is_folder is None:
        raise UsageError(f"{shown(text)!r}: {EXPECTED}; there is no such file or folder")
    if not is_folder:
        raise UsageError(f"{shown(text)}: only a warehouse has offsets and times")
    return Meant(path, is_warehouse=True, at=parse_moment(moment))


def _is_folder(path: str, context: Context) -> bool | None:
    """Whether a folder lies there; None where nothing does."""
    if not is_uri(path):
        try:
            return stat.S_ISDIR(Path(path).stat().st_mode) if path else None
        except (FileNotFoundError, NotADirectoryError):
            return None
    try:
        return files.is_directory(path)
    except UsageError:
        return None


def _is_moment(text: str) -> bool:
    try:
        parse_moment(text)
    except UsageError:
        return False
    return True
