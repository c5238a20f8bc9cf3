"""What a command is given for a side of a proof → the warehouse, the moment or the file meant."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from glob import has_magic
from pathlib import Path
from typing import Any, NamedTuple

from aclkit.cli.context import Context
from aclkit.cli.desired_options import DesiredOptions
from aclkit.cli.output import tell_all
from aclkit.cli.settings_options import given_settings, own_semantics
from aclkit.errors import UsageError
from aclkit.kafka.desired.documents import STDIN
from aclkit.model.moment import parse_moment
from aclkit.model.semantics import AUTO
from aclkit.model.super_users import near_misses
from aclkit.pipeline.sources import files
from aclkit.questions.prove.proof_settings import GivenReading, Side
from aclkit.questions.prove.read import EXPECTED, read_file_side, read_warehouse_side
from aclkit.runtime.uri import is_uri, shown
from aclkit.warehouse.job_run import JOB_RUN

FORMS = (
    "A side is a warehouse (what it has published), WAREHOUSE@OFFSET, WAREHOUSE@TIME, @OFFSET or "
    "@TIME of --warehouse, or a file."
)


class Meant(NamedTuple):
    """What a text names.

    Attributes:
        path: of a file, or of a warehouse.
        is_warehouse: it is a warehouse; otherwise files with ACLs.
        at: the moment of a warehouse that is meant; None is what is published.
    """

    path: str
    is_warehouse: bool
    at: int | datetime | None = None


def read_sides(context: Context, texts: Sequence[str], wanted: DesiredOptions) -> list[Side]:
    """Read what is named; files on the second place are applied to the first side."""
    sides: list[Side] = []
    for text in texts:
        meant = find_meant(text, context)
        if meant.is_warehouse:
            sides.append(read_warehouse_side(meant.path, context.cluster, meant.at))
        else:
            onto = sides[0].acls if sides else None
            sides.append(
                read_file_side(
                    meant.path,
                    wanted.asked if sides else wanted.asked.of_start,
                    wanted.scope,
                    with_operator=wanted.operator,
                    onto=onto,
                )
            )
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
        return Meant(text, is_folder and _is_warehouse(text))
    if text == STDIN or (has_magic(text) and not is_uri(text)):
        return Meant(text, is_warehouse=False)
    path = stem or (context.require_warehouse(to_write=False) if mark else "")
    is_folder = _is_folder(path, context) if mark else None
    if is_folder is None:
        raise UsageError(f"{shown(text)!r}: {EXPECTED}; there is no such file or folder")
    if not is_folder or not _is_warehouse(path):
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


def _is_warehouse(folder: str) -> bool:
    """Whether a folder is a warehouse, not one of files with ACLs."""
    return is_uri(folder) or (Path(folder) / JOB_RUN).is_dir()


def _is_moment(text: str) -> bool:
    try:
        parse_moment(text)
    except UsageError:
        return False
    return True


def given_reading(chosen: Mapping[str, Any]) -> GivenReading:
    """Return the values of the options; ``auto`` counts as not passed."""
    preset, settings = chosen["semantics"], given_settings(chosen)
    tell_all([*settings.notes, *near_misses(settings.super_users or ())])
    return GivenReading(
        settings=settings,
        preset=None if preset == AUTO else preset,
        own=own_semantics(chosen),
    )
