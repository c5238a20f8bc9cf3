"""What tests of the formats share: documents, fixtures and their right values."""

from __future__ import annotations

import csv
from pathlib import Path

from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import Document, Part

DESIRED = Path(__file__).parents[2] / "data" / "desired"
OTHER = Path(__file__).parents[2] / "data" / "other-acl-forms"

Binding = tuple[str, ...]


def document(text: str, name: str = "file") -> Document:
    return Document(name, text)


def document_of(path: Path) -> Document:
    return Document(path.name, path.read_bytes().decode("utf-8", "surrogateescape"))


def right_values(path: Path) -> set[Binding]:
    """The ACLs of a TSV of the fixtures, as ``Acl.binding`` has them."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return {
        (kind, name, pattern, principal, host, operation, permission)
        for kind, pattern, name, principal, host, operation, permission in rows
    }


def bindings(part: Part) -> set[Binding]:
    """The ACLs of a part that is sound."""
    assert not part.problems, [str(problem) for problem in part.problems]
    return {acl.binding for acl in part.acls}


def read(form: Format, text: str) -> Part:
    """Read a text of a format; the format says that it holds it."""
    assert form.holds(document(text))
    return form.read(document(text))


def problems(part: Part) -> list[str]:
    return [str(problem) for problem in part.problems]
