"""What a command is given for a side of a proof → the warehouse, the moment or the file meant."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path
from typing import Any, NamedTuple

from aclkit.cli.context import Context
from aclkit.cli.desired import DesiredOptions
from aclkit.cli.output import tell_all
from aclkit.cli.settings_options import given_settings, own_semantics
from aclkit.errors import UsageError
from aclkit.kafka.desired.documents import STDIN
from aclkit.model.moment import parse_moment
from aclkit.model.semantics import AUTO
from aclkit.model.super_users import near_misses
from aclkit.pipeline.sources import files
from aclkit.questions.read_state import Files, Moment, Warehouse, read_state
from aclkit.questions.sides import GivenReading
from aclkit.questions.state import State
from aclkit.runtime.uri import is_uri, shown
from aclkit.warehouse.job_run import JOB_RUN

EXPECTED = (
    "expected a warehouse, or files in a format that aclkit desired show reads, such as the output "
    "of kafka-acls --list"
)
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
    at: Moment = None


def read_sides(
    context: Context,
    texts: Sequence[str],
    wanted: DesiredOptions,
    given: GivenReading,
    *,
    with_names: bool = False,
) -> list[State]:
    """Read what is named; files on the second place are applied to the first side.

    Under the settings that are given: where a default allows, an ACL that may exist takes access.
    """
    sides: list[State] = []
    for text in texts:
        meant = find_meant(text, context)
        if meant.is_warehouse:
            _refuse_other_folders(meant.path)
            source = Warehouse(meant.path, context.cluster)
            sides.append(read_state(source, meant.at, with_names=with_names))
        else:
            asked, onto = wanted.asked.of_start, None
            if sides:
                asked, onto = wanted.asked, given.over(sides[0])
            files = Files([meant.path], asked, wanted.scope, wanted.operator, onto, replays=True)
            sides.append(read_state(files))
    context.stand_on_states(*sides)
    return sides


def _refuse_other_folders(path: str) -> None:
    """Refuse a folder that is no warehouse; the error names what is expected."""
    from aclkit.warehouse.location import Location
    from aclkit.warehouse.storage import newest_version

    if newest_version(Location(path).files, JOB_RUN) is None:
        raise UsageError(f"{shown(path)}: {EXPECTED}; found a folder that is not a warehouse")


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


def is_there(text: str) -> bool:
    """Whether a text names files, or a place that is not of this machine."""
    return is_uri(text) or has_magic(text) or Path(text).exists()


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
