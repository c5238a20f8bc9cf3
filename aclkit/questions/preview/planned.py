"""Files of a team and a state → the state that they lead to. Reads the files only."""

from __future__ import annotations

from collections.abc import Sequence

from aclkit.errors import DataError
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.formats import format_of
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.read import Asked, desired_of
from aclkit.model.facts import FACT, REJECT
from aclkit.pipeline.sources.records import read_records
from aclkit.questions.preview.change_set import apply_records
from aclkit.questions.preview.desired import Applied, apply_desired
from aclkit.questions.preview.desired_forms import ALL_FORMATS, RECORDS, read_bytes
from aclkit.questions.preview.scopes import Scope
from aclkit.questions.preview.state import State


def read_planned(
    paths: Sequence[str],
    asked: Asked,
    before: State,
    scope: Scope | None = None,
    *,
    with_operator: bool | None = False,
) -> Applied:
    """Read files and apply them to a state.

    Records of a metadata log that come alone, without a scope, are a change: they add and remove
    in their order.

    Raises:
        UsageError: see ``desired_of`` and ``apply_desired``.
        DataError: see ``desired_of``; or a record cannot be used.
    """
    documents = list(read_documents(paths, read_bytes))
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
    return Applied(after=after, ends=None, moments=None, effects=(), notes=notes, places={})
