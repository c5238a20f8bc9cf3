"""Files of the tests, and short forms of what was read of one."""

from __future__ import annotations

import csv
from pathlib import Path

from aclkit.kafka.desired.model import Document

DATA = Path(__file__).parents[2] / "data" / "desired"
_COLUMNS = (
    "resource_type", "name", "pattern_type", "principal", "host", "operation", "permission",
)  # fmt: skip


def text_of(name):
    return (DATA / name).read_text(encoding="utf-8")


def document_of(name):
    return Document(name, text_of(name))


def rows_of(name):
    """The bindings of a TSV, sorted."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return sorted(tuple(row[column] for column in _COLUMNS) for row in rows)


def bindings_of(part):
    return sorted(acl.binding for acl in part.acls)


def problems_of(part):
    return [(problem.place.line, problem.text) for problem in part.problems]
