"""The text of a changelog → the notes of one release. Pure."""

from __future__ import annotations

import re
from typing import Final


class NoNotesError(Exception):
    """The changelog does not describe the release."""


def notes_of(changelog: str, version: str) -> str:
    """Return what a changelog says under a version, without its heading.

    A release has a heading with its number and day, and nothing above it waits for a later one.

    Raises:
        NoNotesError: there is no such heading, nothing below it, or something above it.
    """
    sections = _HEADING.split(changelog)[1:]
    found = dict(zip(sections[::2], map(str.strip, sections[1::2]), strict=True))
    dated = next((title for title in found if re.fullmatch(_dated(version), title)), None)
    if dated is None:
        raise NoNotesError(f"CHANGELOG.md: expected a heading '## {version} (YYYY-MM-DD)'")
    if not found[dated]:
        raise NoNotesError(f"CHANGELOG.md: nothing stands under {dated}")
    if found.get("Unreleased"):
        raise NoNotesError(f"CHANGELOG.md: what stands under Unreleased is not in {version}")
    return found[dated] + "\n"


def _dated(version: str) -> str:
    return rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)"


_HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)
