"""What differs between two clusters → its answer: the verdict first, a line a difference. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Final

from aclkit.answer.document import Answer, Heading, Item, Items, Members, Part, Row, Sentence
from aclkit.model.acl import acl_words, operations_words
from aclkit.model.broker_settings import caveats_on_list
from aclkit.model.groups import grouped
from aclkit.model.phrases import capitalized, few, listed, number_of
from aclkit.model.semantics import changed_settings
from aclkit.questions.clusters.difference import (
    AccessDifference,
    Cause,
    ClusterDifference,
)
from aclkit.questions.clusters.mapped_acls import FIRST, SECOND
from aclkit.questions.difference.answer import with_verdict
from aclkit.questions.difference.verdict import Demands, Verdict, verdict_of
from aclkit.questions.difference.words import PLANNED
from aclkit.questions.query.table_words import short_reason
from aclkit.rules.names.change_lines import MARKS
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.words import principal_words, unknown_sentences
from aclkit.warehouse.published import AsOf

COLUMNS: Final = (
    *("change", "principal", "operation", "resource_type", "names", "hosts", "example"),
    *("decision_first", "acl_first", "decision_second", "acl_second", "only_in"),
)
WORDS: Final = {GAINED: "more", LOST: "less"}
_FEW: Final = 5
_MOST_ACLS: Final = 3


def clusters_answer(
    found: ClusterDifference,
    as_of: Sequence[AsOf] = (),
    most: int | None = None,
    verdict: Verdict | None = None,
) -> Answer:
    """Return what differs between two clusters.

    Args:
        found: the difference.
        as_of: which state of each cluster was compared.
        most: how many differences people read of each kind; all if not given.
        verdict: on it; None is that without any demand.
    """
    first, second = (cluster.label for cluster in found.clusters)
    answer = Answer(
        title=f"Clusters {first} and {second}",
        columns=COLUMNS,
        rows=_rows(found),
        parts=lambda: _parts(found, most),
        besides=lambda: setting_lines(found),
        notes=tuple(dict.fromkeys(_notes(found))),
        json=lambda: _members(found, as_of),
    )
    return with_verdict(answer, verdict or judge_clusters(found))


_TENSE: Final = replace(PLANNED, nothing="", changes="", more="More may differ")
"""The sentence on two clusters says itself what differs."""


def judge_clusters(found: ClusterDifference, demands: Demands | None = None) -> Verdict:
    """Return the verdict on what differs between two clusters."""
    return verdict_of(found, demands or Demands(), _TENSE, [" ".join(_sentences(found))])


def clusters_sentence(found: ClusterDifference) -> str:
    """Write what differs, and why more may."""
    return " ".join((*_sentences(found), *_open_words(found)))


def _sentences(found: ClusterDifference) -> Iterator[str]:
    """Yield how many principals can do more or less in the second cluster.

    It is about access that does not depend on topics which only one of the two has.
    """
    first, second = (cluster.label for cluster in found.clusters)
    more, less = found.who(GAINED), found.who(LOST)
    counts = [
        (_who(found, who), what)
        for who, what in (
            (more - less, "more"),
            (less - more, "less"),
            (more & less, "some more and some less"),
        )
        if who
    ]
    beside = [*_without_counterpart(found)]
    if counts:
        (who, what), *rest = counts
        who = capitalized(who)
        others = [f"{each.removesuffix(' principals').removesuffix(' principal')} {more_or_less}"
                  for each, more_or_less in rest]  # fmt: skip
        text = ", ".join([f"{who} can do {what} in {second} than in {first}", *others]) + "."
        beside.insert(0, text)
    if beside:
        yield from beside
    elif not found.is_known:
        yield "No difference was found."
    elif number := sum(map(len, found.without_counterpart)):
        names = number_of(number, "known name has", "known names have")
        were = "was" if number == 1 else "were"
        yield f"No difference was found, but {names} no counterpart and {were} not compared."
    else:
        yield f"{second} allows the same as {first}. {_scope(found)}"


def _without_counterpart(found: ClusterDifference) -> Iterator[str]:
    """Yield how many principals have access in one cluster that has no counterpart."""
    first, second = (cluster.label for cluster in found.clusters)
    for kind, here, there in ((GAINED, second, first), (LOST, first, second)):
        if number := len(found.without_counterpart_who(kind)):
            have = number_of(number, "principal has", "principals have")
            yield f"{have} access in {here} that has no counterpart in {there}."


def _open_words(found: ClusterDifference) -> Iterator[str]:
    """Yield why more may differ."""
    if not found.is_searched:
        yield "More may differ: the search limit was reached."
    if found.of_members:
        yield "More may differ: the members of roles and groups are not known here."


def _who(found: ClusterDifference, names: Set[str]) -> str:
    """Write how many principals these are; what stands for all others is not counted as one."""
    named = names & found.known_one_by_one
    if named == names:
        return number_of(len(named), "principal")
    if not named:
        return "any principal that no ACL names"
    return f"{number_of(len(named), 'principal')} and any other one"


def _scope(found: ClusterDifference) -> str:
    if found.is_partial:
        return "Only known names were compared."
    return "Proven for every name." if found.maps.are_same else _PROVEN


_PROVEN: Final = "Proven for every name that has a counterpart."


def setting_lines(found: ClusterDifference) -> Iterator[str]:
    """Yield what differs in the settings, which can change every decision."""
    one, other = found.clusters
    for users, here, there in (
        (found.supers[SECOND], other, one),
        (found.supers[FIRST], one, other),
    ):
        if users:
            is_one = len(users) == 1
            yield (
                f"{few(users, _FEW)} {'is a super user' if is_one else 'are super users'} in "
                f"{here.label} only, not in {there.label}."
            )
    for users, here, there in (
        (found.left_out_supers[SECOND], other, one),
        (found.left_out_supers[FIRST], one, other),
    ):
        if users:
            words = "is a super user in" if len(users) == 1 else "are super users in"
            has = "has" if len(users) == 1 else "have"
            yield (
                f"{few(users, _FEW)} {words} {here.label}, and {has} no counterpart in "
                f"{there.label}."
            )
    everyone = [cluster.settings.allow_everyone for cluster in found.clusters]
    if everyone[0] != everyone[1]:
        yield from (
            f"allow.everyone.if.no.acl.found is {'true' if each else 'false'} in {cluster.label}."
            for cluster, each in zip(found.clusters, everyone, strict=True)
        )
    if read := changed_settings(one.semantics, other.semantics):
        yield f"ACLs are read differently in {other.label}: {listed(read)}."
    if one.authorizers and other.authorizers and one.authorizers != other.authorizers:
        yield from (
            f"{each.label} has authorizer {few(each.authorizers)}." for each in (one, other)
        )
    if one.versions and other.versions and one.versions != other.versions:
        yield f"Brokers differ: {one.label} has {one.versions}; {other.label} has {other.versions}."


def line_text(line: AccessDifference) -> str:
    """Write a difference: who, which operations, on which names, from where."""
    who = few(map(principal_words, line.principals))
    operations = operations_words(line.operations, line.resource_type)
    return f"{who}: {operations} on {line.names} from {line.hosts}"


def _parts(found: ClusterDifference, most: int | None) -> Iterator[Part]:
    if settings := list(setting_lines(found)):
        yield Heading("Settings differ", is_sub=True)
        yield Items([Item(line, "~") for line in settings])
    if found.shared:
        if settings or found.apart or found.left_out:
            yield Heading("Access differs", is_sub=True)
        yield from _lines(found, found.shared, most)
    if found.left_out:
        yield Heading("Access without a counterpart", is_sub=True)
        yield from _lines(found, found.left_out, most)
    if found.apart:
        yield Heading("Topics that only one cluster has", is_sub=True)
        yield from _lines(found, found.apart, most)


def _lines(
    found: ClusterDifference, lines: Sequence[AccessDifference], most: int | None
) -> Iterator[Part]:
    yield Items([_item(found, line) for line in lines[:most]])
    if most is not None and len(lines) > most:
        yield Sentence(f"… and {number_of(len(lines) - most, 'more difference')}.")


def _item(found: ClusterDifference, line: AccessDifference) -> Item:
    under = [
        f"{cluster.label}: {_because(cause) if cause else 'no counterpart'}"
        for cluster, cause in zip(found.clusters, line.causes, strict=True)
    ]
    if line.only_in is not None:
        under.append(f"only {found.clusters[line.only_in].label} has this topic")
    at = None if None in line.causes else found.unknown_in(line)
    if at is not None:
        these = "this principal" if len(line.principals) == 1 else "these principals"
        under.append(f"{found.clusters[at].label} does not know {these}")
    return Item(line_text(line), MARKS[line.kind], under)


def _because(cause: Cause) -> str:
    return short_reason(cause.decision, cause.rule, cause.acl, None, None)


def _notes(found: ClusterDifference) -> Iterator[str]:
    """Yield what was not compared, and what is uncertain about either cluster."""
    if found.is_partial:
        yield _partial_words(found)
    else:
        yield from unknown_sentences(found.comparison.difference, found.budget)
    yield from _only_words(found)
    for cluster, names in zip(found.clusters, found.without_counterpart, strict=True):
        if names:
            yield (
                f"The rules leave out {number_of(len(names), 'name')} of {cluster.label}: "
                f"{few(names, _FEW)}."
            )
    yield from _labelled(
        (note, cluster.label)
        for cluster in found.clusters
        for note in (*cluster.notes, *caveats_on_list(cluster.settings))
    )


def _labelled(notes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write of which clusters each note is, once."""
    for note, labels in grouped(notes).items():
        yield f"{' and '.join(labels)}: {note}"


def _partial_words(found: ClusterDifference) -> str:
    if not found.inexact:
        return "Only known names were compared, one by one: the rules leave out too many others."
    acls = few((acl_words(acl) for acl in found.inexact), _MOST_ACLS)
    return f"Only known names were compared, one by one, because the rules split {acls}."


def _only_words(found: ClusterDifference) -> Iterator[str]:
    """Yield which topics exist in one cluster alone."""
    for cluster, names in zip(found.clusters, found.only_topics or ((), ()), strict=True):
        if names:
            yield (
                f"Only {cluster.label} has {number_of(len(names), 'topic')}: {few(names, _FEW)}."
            )


def _rows(found: ClusterDifference) -> Iterator[Row]:
    """Yield a row for each principal and operation of a line."""
    for at in (SECOND, FIRST):
        for user in (*found.supers[at], *found.left_out_supers[at]):
            kind = WORDS[GAINED if at == SECOND else LOST]
            second = at == SECOND
            causes = (None if second else "ALLOWED", None, "ALLOWED" if second else None, None)
            yield (kind, user, "ANY", None, "every name", "any host", None, *causes, None)
    for line in (*found.shared, *found.left_out, *found.apart):
        only_in = None if line.only_in is None else found.clusters[line.only_in].label
        decided = tuple(text for cause in line.causes for text in _cause_texts(cause))
        for who in line.principals:
            for operation in line.operations:
                yield (
                    *(WORDS[line.kind], principal_words(who), operation, line.resource_type),
                    *(line.names, line.hosts, str(line.example.resource), *decided, only_in),
                )


def _cause_texts(cause: Cause | None) -> tuple[str | None, str | None]:
    if cause is None:
        return None, None
    return cause.decision, None if cause.acl is None else str(cause.acl)


def _members(found: ClusterDifference, as_of: Sequence[AsOf]) -> Members:
    """Yield the members of one object of JSON."""
    yield "verdict", clusters_sentence(found)
    yield "clusters", [cluster.label for cluster in found.clusters]
    yield "states", list(map(str, as_of))
    for name, kind in (("more", GAINED), ("less", LOST)):
        yield name, len(found.who(kind)) + len(found.without_counterpart_who(kind))
    yield "settings", list(setting_lines(found))
    yield "differences", (dict(zip(COLUMNS, row, strict=True)) for row in _rows(found))
    only = found.only_topics or ((), ())
    for name, lists in (("only_topics", only), ("without_counterpart", found.without_counterpart)):
        yield (
            name,
            [
                {"cluster": cluster.label, "names": list(names)}
                for cluster, names in zip(found.clusters, lists, strict=True)
            ],
        )
    yield "is_known", found.is_known
    is_whole = not any(found.without_counterpart) and not found.left_out
    yield "proven_for_every_name", found.is_known and is_whole and not found.is_partial
    yield "notes", list(dict.fromkeys(_notes(found)))
