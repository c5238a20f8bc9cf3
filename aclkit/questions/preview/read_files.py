"""Files of a team, and the state that they are for → the state that they hold, or lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aclkit.errors import DataError
from aclkit.kafka.desired.answer import OWN_CHANGE, hidden_in
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.formats import format_of
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.read import Asked, Desired, desired_of
from aclkit.model.facts import FACT, REJECT
from aclkit.model.phrases import few
from aclkit.pipeline.sources.records import read_records
from aclkit.questions.preview import desired_forms
from aclkit.questions.preview.desired import Scope, apply_desired
from aclkit.questions.state import FILES, LISTING, RECORDS, Applied, State
from aclkit.runtime.uri import shown


def read_files(
    paths: Sequence[str],
    asked: Asked,
    scope: Scope | None,
    onto: State | None,
    *,
    with_operator: bool | None,
    replays: bool,
) -> State:
    """Read files as a whole state, or apply them to the one that they are for; see ``Files``."""
    documents = list(read_documents(paths, desired_forms.read_bytes))
    place = few(map(shown, paths))
    is_alone = len(documents) == 1 and scope is None and not replays
    if onto is not None and is_alone and _is_records(documents[0][0], asked):
        return _applied(_apply_records(documents[0][0], onto), RECORDS, place)
    desired = desired_of(documents, desired_forms.ALL_FORMATS, asked)
    form = _form(part.form for part in desired.parts)
    if onto is None or (replays and form == RECORDS):
        return _whole(desired, form, place)
    applied = apply_desired(desired, onto, scope, with_operator=with_operator)
    return _applied(applied, form, place)


def _form(forms: Iterable[str]) -> str:
    """Return what a state of files is called."""
    found = set(forms)
    return RECORDS if found == {RECORDS} else LISTING if found <= {"acls-list"} else FILES


def _is_records(document: Document, asked: Asked) -> bool:
    return format_of(document, desired_forms.ALL_FORMATS, asked.form) is desired_forms.RECORDS


def _whole(desired: Desired, form: str, place: str) -> State:
    """Return what files hold, whatever was there before."""
    once = {each.binding: each.acl for each in desired.acls}.values()
    is_change = any(part.reach == "change" for part in desired.parts)
    return State(
        place=place,
        form=form,
        notes=(*desired.notes, *([f"{place}: {OWN_CHANGE}"] if is_change else ())),
        fresh=frozenset(each.acl.principal for each in desired.acls if each.is_fresh),
        hidden=hidden_in(desired.parts),
    ).with_only(replace(acl, acl_id=f"file-{n:04}") for n, acl in enumerate(once, 1))


def _applied(applied: Applied, form: str, place: str) -> State:
    """Return where files lead; nothing of the warehouse below it is of this state."""
    after = applied.after
    return State(
        acls=after.acls,
        settings=after.settings,
        semantics=after.semantics,
        inventory=after.inventory,
        place=place,
        form=form,
        notes=applied.notes,
        applied=applied,
        fresh=after.fresh,
        hidden=after.hidden,
    )


def _apply_records(document: Document, before: State) -> Applied:
    rows = list(read_records(document.lines(), document.name))
    bad = [row for row in rows if row.kind == REJECT]
    if bad:
        raise DataError("\n".join(f"{row.source}:{row.position}: {row.reason}" for row in bad[:50]))
    after, notes = desired_forms.apply_records([row for row in rows if row.kind == FACT], before)
    return Applied(after=after, notes=notes)
