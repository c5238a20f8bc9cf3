"""Small systems of ACLs, each decided alone by the kernel, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.rows import default_rulings
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Given, Texts, survey
from aclkit.warehouse.views import SUPER_RULESET
from tests.pipeline.explain.decided import Rows, by_kernel

Answer = tuple[str, str, str | None]
"""Decision, rule, and the id of the deciding ACL."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of decided tables: by the pair, else the class, and by the host, else any other."""

    scope: Scope
    pairs: Mapping[tuple[str, ...], str]
    class_pairs: Mapping[tuple[str, ...], str]
    rulings: Mapping[tuple[str, ...], Answer]

    @classmethod
    def of(cls, tables: Rows, scope: Scope, *, allow_everyone: bool) -> Answers:
        """Take tables without the rulesets that hold no ACL; no key may have two rows."""
        defaults = [row[:6] for row in default_rulings(allow_everyone=allow_everyone)]
        rulings = [*(row[1:] for row in tables["explain_ruling"]), *defaults]
        return cls(
            scope,
            _keyed((row[1:4], row[4]) for row in tables["explain_pair"]),
            _keyed((row[1:4], row[4]) for row in tables["explain_class_pair"]),
            _keyed((row[:3], row[3:]) for row in rulings),
        )

    def of_request(self, asked: Request) -> Answer:
        """Answer a request about names of the scope."""
        scope, resource = self.scope, asked.resource
        shared = self.class_pairs[scope.classes.class_of[asked.principal], *resource]
        ruleset = self.pairs.get((asked.principal, *resource), shared)
        if asked.principal in scope.super_users:
            ruleset = SUPER_RULESET
        other = self.rulings[ruleset, ANY_OTHER, asked.operation]
        return self.rulings.get((ruleset, asked.host, asked.operation), other)


def _keyed(rows: Iterable[tuple[tuple[str, ...], Any]]) -> dict[tuple[str, ...], Any]:
    found = list(rows)
    assert len(dict(found)) == len(found)
    return dict(found)


def texts_of(acls: Iterable[Acl]) -> Texts:
    """What ACLs are made of, sorted."""
    patterns = Counter(sorted(acl.pattern for acl in acls))
    return Texts(
        patterns=tuple(patterns),
        counts=tuple(patterns.values()),
        principals=tuple(sorted({acl.principal for acl in acls})),
        hosts=tuple(sorted({acl.host for acl in acls})),
    )


def scope_of(
    acls: Iterable[Acl], given: Given, settings: BrokerSettings, semantics: Semantics
) -> Scope:
    """What a materialize of ACLs and given names is about."""
    texts = texts_of(acls)
    return Scope(
        cluster_id="c",
        texts=texts,
        inventory=survey(texts, [], given, settings, semantics),
        semantics=semantics,
        super_users=frozenset(filter(settings.makes_super, settings.super_users)),
    )


def take_scope(
    acls: Sequence[Acl],
    requests: Iterable[Request],
    settings: BrokerSettings,
    semantics: Semantics,
    hosts: Iterable[str] = (),
) -> Scope:
    """What a materialize would ask about: what is requested, these hosts, and atoms of ranges."""
    asked = list(requests)
    principals = dict.fromkeys(request.principal for request in asked)
    own = [request.host for request in asked if not is_any_other(request.host)]
    resources = dict.fromkeys(request.resource for request in asked)
    given = {
        PRINCIPALS: [Entry(name=name, origin=FILE) for name in principals],
        HOSTS: [Entry(name=name, origin=FILE) for name in dict.fromkeys((*own, *hosts))],
        RESOURCES: [Entry(name=n, resource_type=kind, origin=FILE) for kind, n in resources],
    }
    return scope_of(acls, Given(entries=given), settings, semantics)


def decide_by_kernel(
    acls: Sequence[Acl], requests: Iterable[Request], scope: Scope, *, allow_everyone: bool
) -> list[Answer]:
    """Decide everything of a scope, and return the answers to the requests, in their order."""
    tables = by_kernel(scope, acls)
    answers = Answers.of(tables, scope, allow_everyone=allow_everyone)
    return [answers.of_request(request) for request in requests]
