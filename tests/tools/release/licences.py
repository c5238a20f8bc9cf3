"""A bill of materials (CycloneDX) → the licence of each package, as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

UNKNOWN: Final = "not stated"


def licences_of(bill: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return name, version and licence of each package, in order of names.

    A package states its licence as an SPDX expression, as an id, as a name, or not at all. Of a
    licence's whole text in the place of its name only the first line is taken.
    """
    rows = [
        (each["name"], each.get("version", ""), " and ".join(_stated(each)) or UNKNOWN)
        for each in bill.get("components", ())
    ]
    return sorted(rows, key=lambda row: row[0].lower())


def licence_table(rows: list[tuple[str, str, str]]) -> str:
    """Write the licences as a table of Markdown."""
    lines = ["| package | version | licence |", "|---|---|---|"]
    lines += [f"| {name} | {version} | {licence} |" for name, version, licence in rows]
    return "\n".join(lines) + "\n"


def _stated(component: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a package states; its classifiers only where it states nothing else."""
    told = list(filter(None, dict.fromkeys(map(_one, component.get("licenses", ())))))
    better = [words for words in told if not words.startswith(_CLASSIFIER)]
    yield from better or (words.rpartition(" :: ")[2] for words in told)


def _one(entry: Mapping[str, Any]) -> str:
    licence = entry.get("license", {})
    stated = entry.get("expression") or licence.get("id") or licence.get("name") or ""
    first = str(stated).strip().partition("\n")[0]
    return "" if first.startswith(_FILE) else first.replace("|", "/")


_CLASSIFIER: Final = "License :: "
_FILE: Final = "declared license file"
"""Begins what stands for the text of a file."""
