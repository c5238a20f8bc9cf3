"""Files of teams → what they want the ACLs to be, or all reasons why that is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired.formats import Format, format_of, unknown_form, unlike
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Problem
from aclkit.kafka.desired.user_operator import users_twice
from aclkit.model.phrases import few, listed, number_of

MOST_PROBLEMS: Final = 20
"""Problems that a message lists; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is read of the files, and how strictly.

    Attributes:
        form: the name of the format of all files; None if content tells it.
        cluster: of files for several clusters, the one that counts.
        is_strict: what may hold ACLs and is not read is refused.
        allows_empty: files without any ACL are read.
        may_name_no_cluster: files that name no cluster at all are for the one that counts.
    """

    form: str | None = None
    cluster: str | None = None
    is_strict: bool = False
    allows_empty: bool = False
    may_name_no_cluster: bool = False

    @property
    def of_start(self) -> Asked:
        """What is read of the files with the state before, such as a listing."""
        return replace(self, may_name_no_cluster=True)


@dataclass(frozen=True, slots=True)
class Desired:
    """What all files together hold, for one cluster.

    Attributes:
        parts: what each file holds, without problems.
        notes: what a reader must know.
    """

    parts: Sequence[Part]
    notes: Sequence[str]

    @property
    def acls(self) -> list[DesiredAcl]:
        """The ACLs that shall exist, each as often as files hold it."""
        return [acl for part in self.parts for acl in part.acls]


def desired_of(
    documents: Iterable[tuple[Document, bool]], formats: Iterable[Format], asked: Asked
) -> Desired:
    """Return what files hold; what is wrong is told all at once.

    Args:
        documents: the files, each with whether it was named itself: one that only stands in a
            folder may be of no known format.
        formats: those that are read, in the order of asking.
        asked: what is read.

    Raises:
        UsageError: a format is unknown, or the files are for several clusters and none is chosen.
        DataError: a file is of no known format, cannot be used, or no file holds an ACL.
    """
    formats = tuple(formats)
    parts: list[Part] = []
    passed_over = 0
    names: list[str] = []
    for document, is_named in documents:
        names.append(document.name)
        form = format_of(document, formats, asked.form)
        is_empty = is_named and asked.allows_empty and not document.text.strip()
        if form is not None:
            part = form.read(document)
            # Of what is something else, such as a private key, no message quotes a word.
            if part.problems and asked.form is not None and not form.holds(document):
                raise unlike(document, form)
            parts.append(part)
        elif is_empty:
            parts.append(_empty(document))
        elif is_named:
            raise unknown_form(document, formats)
        else:
            passed_over += 1
    _refuse([*(problem for part in parts for problem in part.problems), *users_twice(parts)])
    chosen = _of_cluster(parts, asked)
    notes = [note for part in chosen for note in part.notes]
    if passed_over:
        notes.append(f"{number_of(passed_over, 'file')} of other formats not read.")
    notes += _unread(chosen, is_strict=asked.is_strict)
    _require_acls(chosen, names, allows_empty=asked.allows_empty)
    return Desired(chosen, list(dict.fromkeys(notes)))


def _empty(document: Document) -> Part:
    """Return what an empty file holds: kafka-acls prints nothing for a cluster without ACLs."""
    note = f"{document.name} is empty. It is read as a listing of a cluster without ACLs."
    return Part(document=document.name, form="acls-list", reach="all", notes=[note])


def _refuse(problems: Sequence[Problem]) -> None:
    if not problems:
        return
    unique = list(dict.fromkeys(problems))
    lines = [f"{problem}" for problem in unique[:MOST_PROBLEMS]]
    if len(unique) > MOST_PROBLEMS:
        lines.append(f"{number_of(len(unique) - MOST_PROBLEMS, 'more problem')}")
    raise DataError("\n".join(lines))


def _of_cluster(parts: Sequence[Part], asked: Asked) -> list[Part]:
    """Return what the parts hold for one cluster; what names no cluster is for each.

    Raises:
        UsageError: several clusters and none is chosen, or the chosen one is not among them.
    """
    wanted = asked.cluster
    names = sorted({name for part in parts for name in _clusters(part) if name is not None})
    if wanted is None and len(names) > 1:
        raise UsageError(
            f"The files are for several clusters: {listed(names)}. Pass --of-cluster NAME."
        )
    if wanted is None or (asked.may_name_no_cluster and not names):
        return list(parts)
    if wanted not in names:
        known = f"They are for {listed(names)}." if names else "They name no cluster."
        raise UsageError(f"No file is for the cluster {wanted!r}. {known}")
    those = (None, wanted)
    return [
        replace(
            part,
            acls=[each for each in part.acls if each.cluster in those],
            changes=[each for each in part.changes if each.cluster in those],
            owners=[each for each in part.owners if each.cluster in those],
            untouched=[each for each in part.untouched if each.cluster in those],
        )
        for part in parts
    ]


def _clusters(part: Part) -> Iterator[str | None]:
    yield from (each.cluster for each in part.acls)
    yield from (each.cluster for each in part.changes)
    yield from (each.cluster for each in part.owners)
    yield from (each.cluster for each in part.untouched)


def _unread(parts: Sequence[Part], *, is_strict: bool) -> list[str]:
    """Return the note on what may hold ACLs and is not read.

    Raises:
        DataError: there is such a thing, and the user is strict.
    """
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.unread)
    if not total:
        return []
    kinds = [f"{number} {kind}" for kind, number in sorted(total.items())]
    text = f"May hold ACLs and was not read: {few(kinds, 8)}."
    if is_strict:
        files = dict.fromkeys(part.document for part in parts if part.unread)
        raise DataError(f"{text} Remove it from {few(files)}, or run without --strict.")
    return [text]


def _require_acls(parts: Sequence[Part], names: Sequence[str], *, allows_empty: bool) -> None:
    if allows_empty or any(p.acls or p.changes or p.owners or p.unknown for p in parts):
        return
    where = few(names) if names else "The folder has no file of a known format"
    raise DataError(f"{where}: no ACL was found. If that is meant, pass --allow-empty.")
