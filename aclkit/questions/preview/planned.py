"""Files of a team and a state → the state that they lead to. Reads the files only."""

from __future__ import annotations

from collections.abc import Sequence

from aclkit.errors import DataError
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.formats import format_of
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.read import Asked, Desired, desired_of
from aclkit.model.facts import FACT, REJECT
from aclkit.pipeline.sources.files import read_user_file, unpack
from aclkit.pipeline.sources.records import read_records
from aclkit.questions.preview.change_set import apply_records
from aclkit.questions.preview.desired import Applied, apply_desired
from aclkit.questions.preview.desired_forms import ALL_FORMATS, RECORDS
from aclkit.questions.preview.scopes import Scope
from aclkit.questions.preview.state import State
from aclkit.runtime.safe_read import LARGEST_DATA


def read_wanted(paths: Sequence[str], asked: Asked) -> Desired:
    """Read files, folders, globs or stdin, packed or not.

    Raises:
        UsageError: a path names nothing, files are too large, or as in ``desired_of``.
        DataError: see ``desired_of``.
        SurroundingsError: a file cannot be read.
    """
    return desired_of(read_documents(paths, _read), ALL_FORMATS, asked)


def _read(path: str) -> bytes:
    return unpack(read_user_file(path, LARGEST_DATA), path, LARGEST_DATA)


def read_planned(
    paths: Sequence[str],
    asked: Asked,
    before: State,
    scope: Scope | None = None,
    *,
    with_operator: bool = False,
) -> Applied:
    """Read files and apply them to a state.

    Records of a metadata log that come alone, without a scope, are a change: they add and remove
    in their order.

    Raises:
        UsageError: see ``read_wanted`` and ``apply_desired``.
        DataError: see ``read_wanted``; or a record cannot be used.
    """
    documents = list(read_documents(paths, _read))
    if len(documents) == 1 and scope is None:
        ((document, _),) = documents
        if format_of(document, ALL_FORMATS, asked.form) is RECORDS:
            return _apply_records(document, before)
    desired = desired_of(documents, ALL_FORMATS, asked)
    return apply_desired(desired, before, scope, with_operator=with_operator)


def _apply_records(document: Document, before: State) -> Applied:
    rows = list(read_records(document.lines(), document.name))
    bad = [row for row in rows if row.kind == REJECT]
    if bad:
        raise DataError("\n".join(f"{row.source}:{row.position}: {row.reason}" for row in bad[:50]))
    after, notes = apply_records([row for row in rows if row.kind == FACT], before)
    return Applied(after=after, moment=None, effects=(), notes=notes, places={})
