"""The tables of a cluster and the user's files → everything that a run asks about."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import number_of
from aclkit.model.resource import CLUSTER_NAME, WORD_OF_TYPE
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES, is_symbol
from aclkit.pipeline.inventory.any_other import (
    Witness,
    atom_witnesses,
    host_witness,
    principal_witness,
    resource_witness,
)
from aclkit.pipeline.inventory.entry import (
    ACL,
    ALWAYS,
    FILE,
    LOG,
    SETTING,
    Entry,
)
from aclkit.rules.patterns.identity import asked_host
from aclkit.rules.patterns.match import names_exactly
from aclkit.warehouse.codecs import ALIVE_SQL

if TYPE_CHECKING:  # a task of Spark needs no DuckDB
    from aclkit.warehouse.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The different texts of the ACLs alive: what patterns and identities are made of.

    Attributes:
        patterns: (resource type, pattern type, resource name).
        principals: as written in ACLs.
        hosts: as written in ACLs.
        counts: how many ACLs each pattern has; only who ranks ACLs asks.
    """

    patterns: tuple[tuple[str, str, str], ...]
    principals: tuple[str, ...]
    hosts: tuple[str, ...]
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the user's files name; None where there is no file for a dimension.

    Attributes:
        entries: entries of each kind (principals, hosts, resources).
        extend: the files add to the log's own inventory instead of taking its place.
        attributes_of: what a principal builder knows of a principal that no file names.
    """

    entries: Mapping[str, Sequence[Entry]] = field(default_factory=dict)
    extend: bool = False
    attributes_of: Callable[[str], Mapping[str, str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Everything that a run asks about, any-other rows included, and what to tell about it."""

    principals: tuple[Entry, ...]
    hosts: tuple[Entry, ...]
    resources: tuple[Entry, ...]
    notes: tuple[str, ...]

    def digest(self) -> str:
        """Return a hash of everything asked about, to tell whether it changed between runs."""
        rows = sorted(
            repr((kind, e.key, e.origin, e.witness, sorted(e.attributes.items())))
            for kind, entries in enumerate((self.principals, self.hosts, self.resources))
            for e in entries
        )
        content = "\n".join(rows).encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).hexdigest()


def read_texts(tables: Reader) -> Texts:
    """Read the different texts of the ACLs alive, of ``acl_history``."""
    pattern = "resource_type, pattern_type, resource_name"
    counted = sorted(tables.rows(f"SELECT {pattern}, count(*) {ALIVE_SQL} GROUP BY {pattern}"))
    return Texts(
        patterns=tuple((row[0], row[1], row[2]) for row in counted),
        counts=tuple(row[3] for row in counted),
        principals=tuple(
            sorted(row[0] for row in tables.rows(f"SELECT DISTINCT principal {ALIVE_SQL}"))
        ),
        hosts=tuple(sorted(row[0] for row in tables.rows(f"SELECT DISTINCT host {ALIVE_SQL}"))),
    )


def survey(
    texts: Texts,
    log: Sequence[Entry],
    given: Given,
    settings: BrokerSettings,
    semantics: Semantics,
    *,
    has_all_topics: bool = True,
) -> Inventory:
    """Put together what is asked about.

    A file given for a dimension takes the place of what the log knows of it, or with
    ``extend`` adds to it. Super users, ``kafka-cluster`` and "any other" are always there. Where
    ``log`` does not have all topics, those that ACLs name are asked about too.
    """
    notes: list[str] = []
    principals = _choose(PRINCIPALS, _principals_of(texts, log, semantics), given)
    _add(principals, [Entry(name=u, origin=SETTING) for u in sorted(settings.super_users)])
    hosts = _choose(HOSTS, _hosts_of(texts, semantics), given)
    resources = _choose(RESOURCES, _resources_of(texts, log, has_all_topics=has_all_topics), given)
    _add(resources, [Entry(name=CLUSTER_NAME, resource_type="CLUSTER", origin=ALWAYS)])
    for kind, chosen in ((PRINCIPALS, principals), (HOSTS, hosts), (RESOURCES, resources)):
        _drop_symbols(kind, chosen, notes)
        notes.append(_count_note(kind, chosen))
    if given.attributes_of is not None:
        _describe(principals, given.attributes_of)
    witness = principal_witness(texts.principals, [name for _, name in principals], semantics)
    _add(principals, _other(ANY_OTHER_PRINCIPAL, "", witness, notes))
    _add(hosts, _other_hosts(texts, hosts, semantics, notes))
    _add(resources, _other_resources(texts, resources, semantics, notes))
    return Inventory(
        principals=tuple(principals.values()),
        hosts=tuple(hosts.values()),
        resources=tuple(resources.values()),
        notes=tuple(notes),
    )


def log_entries(tables: Reader) -> list[Entry]:
    """Read what is alive in ``resource_lifetime`` and ``principal_lifetime``."""
    resources = tables.rows(
        "SELECT DISTINCT resource_type, resource_name FROM resource_lifetime "
        "WHERE last_offset IS NULL"
    )
    users = tables.rows(
        "SELECT DISTINCT principal FROM principal_lifetime WHERE last_offset IS NULL"
    )
    return [
        *(Entry(name=name, resource_type=kind, origin=LOG) for kind, name in resources),
        *(Entry(name=row[0], origin=LOG) for row in users),
    ]


_Chosen = dict[tuple[str, str], Entry]


def _choose(kind: str, own: Iterable[Entry], given: Given) -> _Chosen:
    chosen: _Chosen = {}
    from_file = given.entries.get(kind)
    _add(chosen, from_file or ())
    if from_file is None or given.extend:
        _add(chosen, sorted(own, key=lambda entry: entry.key))
    return chosen


def _add(chosen: _Chosen, entries: Iterable[Entry]) -> None:
    for entry in entries:
        chosen.setdefault(entry.key, entry)


def _describe(chosen: _Chosen, attributes_of: Callable[[str], Mapping[str, str]]) -> None:
    """Give principals that no file describes the attributes that a builder knows of them."""
    for key, entry in chosen.items():
        if entry.origin != FILE:
            chosen[key] = replace(entry, attributes=attributes_of(entry.name))


def _principals_of(texts: Texts, log: Iterable[Entry], semantics: Semantics) -> Iterable[Entry]:
    yield from (entry for entry in log if not entry.resource_type)
    for text in texts.principals:
        if names_exactly(text, semantics):
            yield Entry(name=text, origin=ACL)


def _hosts_of(texts: Texts, semantics: Semantics) -> Iterable[Entry]:
    for text in texts.hosts:
        name = asked_host(text, semantics)
        if name is not None and not is_symbol(HOSTS, name):
            yield Entry(name=name, origin=ACL)


def _resources_of(texts: Texts, log: Iterable[Entry], *, has_all_topics: bool) -> Iterable[Entry]:
    """Topics that live, or where not all are known, also those named; other types as named."""
    topics = has_all_topics and any(entry.resource_type == "TOPIC" for entry in log)
    yield from (entry for entry in log if entry.resource_type)
    for resource_type, pattern_type, name in texts.patterns:
        if pattern_type != "LITERAL" or name == "*" or (resource_type == "TOPIC" and topics):
            continue
        if resource_type in OPERATIONS_OF_TYPE and resource_type != "CLUSTER":
            yield Entry(name=name, resource_type=resource_type, origin=ACL)


def _drop_symbols(kind: str, chosen: _Chosen, notes: list[str]) -> None:
    """Leave out names that are symbols. What has such a name decides for it alone."""
    for key, entry in list(chosen.items()):
        if is_symbol(kind, entry.name):
            del chosen[key]
            notes.append(f"The name {entry.name} was left out, because aclkit uses it as a symbol.")


def _count_note(kind: str, chosen: _Chosen) -> str:
    """Count principals and hosts by their origin, resources by their type."""
    if kind == RESOURCES:
        counts = Counter(WORD_OF_TYPE[entry.resource_type] for entry in chosen.values())
        is_there = counts.pop("cluster", 0)
        parts = [number_of(number, word) for word, number in sorted(counts.items())]
        parts += ["the cluster"] if is_there else []
    else:
        counts = Counter(entry.origin for entry in chosen.values())
        parts = [_WORDS_OF_ORIGIN[kind, o].format(n=counts[o]) for o in _ORIGINS if counts[o]]
    return f"{kind.capitalize()}: {', '.join(parts) or 'none'}."


_ORIGINS: Final = (FILE, LOG, ACL, SETTING)
_WORDS_OF_ORIGIN: Final = {
    (PRINCIPALS, FILE): "{n:,} from your file",
    (PRINCIPALS, LOG): "{n:,} from the cluster",
    (PRINCIPALS, ACL): "{n:,} named only in ACLs",
    (PRINCIPALS, SETTING): "{n:,} named only in super.users",
    (HOSTS, FILE): "{n:,} from your file",
    (HOSTS, ACL): "{n:,} named in ACLs",
}


def _other_hosts(
    texts: Texts, chosen: _Chosen, semantics: Semantics, notes: list[str]
) -> Iterator[Entry]:
    """Yield what stands for the hosts that nothing names: one in each range, one outside of all."""
    taken = [name for _, name in chosen]
    yield from _other(ANY_OTHER, "", host_witness(texts.hosts, taken, semantics), notes)
    within = 0
    for atom, witness in atom_witnesses(texts.hosts, taken, semantics):
        for entry in _other(atom.name, "", witness, notes):
            within += 1
            yield replace(entry, attributes={"range": str(atom)})
    if within:
        notes.append(f"Hosts: {within} stand for addresses within a range that no ACL names.")


def _other_resources(
    texts: Texts, chosen: _Chosen, semantics: Semantics, notes: list[str]
) -> Iterator[Entry]:
    for resource_type in OPERATIONS_OF_TYPE:
        if resource_type != "CLUSTER":
            patterns = [row[1:] for row in texts.patterns if row[0] == resource_type]
            taken = [name for of_type, name in chosen if of_type == resource_type]
            witness = resource_witness(resource_type, patterns, taken, semantics)
            yield from _other(ANY_OTHER, resource_type, witness, notes)


def _other(name: str, resource_type: str, witness: Witness, notes: list[str]) -> list[Entry]:
    if witness.name is None:
        what = f"{resource_type} {name}".strip()
        is_none, is_not_found = "ACLs name every possible name", "no other name was found"
        why = is_none if witness.is_known else is_not_found
        notes.append(f"{what} was left out, because {why}.")
        return []
    return [Entry(name=name, resource_type=resource_type, origin=ALWAYS, witness=witness.name)]
