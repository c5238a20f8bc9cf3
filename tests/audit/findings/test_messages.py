"""Messages and fixes of all kinds: they name the ACL, and each sentence is short and plain."""

from __future__ import annotations

import re

import pytest

from aclkit.audit.findings.audit_input import Life
from aclkit.audit.findings.ranges import SLEEPING_RANGE
from aclkit.audit.findings.registry import KINDS, find_all, find_readings
from aclkit.model.acl import Acl, acl_words
from aclkit.model.findings import Finding
from tests.audit.findings.auditing import audit_of
from tests.audit.findings.test_planted import (
    BORN_AGAIN,
    CASES,
    EVERYONE,
    RANGES,
    ROLLING,
    audit_sample,
)
from tests.conftest import DATA
from tests.factories import acl

FINGERPRINTS = DATA / "sample-fingerprints.txt"
MOST_WORDS = 20
BANNED = (
    "this ALLOW", "this DENY", "this ACL", "this one", "the wider one", "may not", "nobody",
    "anybody", "everybody", "behind", "beside", "mend", "needless", "holds for", "ResourcePattern(",
    "gives", "fares", "reaches", "says", "told",
)  # fmt: skip


def of_planted() -> list[tuple[Finding, dict[str, Acl]]]:
    """Audit the sample with all that is planted, under each thing that is known."""
    rows = {row.acl_id: row for c in CASES for row in (c.planted, *c.beside, *c.harmless)}
    found: list[tuple[Finding, dict[str, Acl]]] = []
    for known in (
        {"brokers": ROLLING}, {"semantics": RANGES}, {"settings": EVERYONE}, {"topics": BORN_AGAIN},
    ):  # fmt: skip
        audit = audit_sample(*rows.values(), **known)
        acls = {row.acl_id: row for row in audit.acls}
        each = [*find_all(audit), *find_readings(audit.acls, audit.semantics)]
        found += [(finding, acls) for finding in each]
    return found


@pytest.fixture(scope="module")
def planted() -> list[tuple[Finding, dict[str, Acl]]]:
    return of_planted()


PEOPLE = "ALLOW READ on topic orders for User:a from any host"
BORN = [Life(name="orders", first_offset=1, last_offset=200, topic_id="x"),
        Life(name="orders", first_offset=300, topic_id="y")]  # fmt: skip
BIL = acl("bil", pattern_type="PREFIXED", principal="User:*", operation="ALTER_CONFIGS")
TOPICS = [Life(name=f"{start}.{n}", first_offset=1) for start in ("bil", "z") for n in range(7)]


@pytest.mark.parametrize(
    ("kind", "rows", "known", "message"),
    [
        (
            "allow-overridden",
            [acl(), acl(operation="ALL", permission_type="DENY")],
            {},
            f"{PEOPLE} has no effect: DENY ALL on topic orders for User:a from any host overrides "
            "it.",
        ),
        (
            "allow-shadowed",
            [acl(operation="DESCRIBE", host="10.0.0.1"), acl()],
            {},
            "Redundant: ALLOW DESCRIBE on topic orders for User:a from 10.0.0.1; its own ALLOW "
            "READ on topic orders from any host already covers it.",
        ),
        (
            "public-access",
            [BIL],
            {"topics": TOPICS},
            'Every client can change the configuration of topics that start with "bil" (7 topics '
            "today): ALLOW ALTER_CONFIGS on topic bil* (prefix) for User:* from any host.",
        ),
        (
            "public-access",
            [BIL, acl("bil.0", operation="ALL", permission_type="DENY", principal="User:*")],
            {"topics": TOPICS},
            'Every client can change the configuration of topics that start with "bil" (7 topics '
            "today), unless a DENY applies: ALLOW ALTER_CONFIGS on topic bil* (prefix) for User:* "
            "from any host. For example, User:z from 1.1.1.1 can ALTER_CONFIGS topic:bil.1.",
        ),
        (
            "public-access",
            [acl(principal="User:*", operation="ALL")],
            {},
            "Every client can perform every operation on topic orders: ALLOW ALL on topic orders "
            "for User:* from any host.",
        ),
        (
            "escalation",
            [acl("kafka-cluster", resource_type="CLUSTER", operation="ALTER")],
            {},
            "User:a is effectively an administrator: ALLOW ALTER on the cluster from any host lets "
            "it create any ACL and reset SCRAM passwords.",
        ),
        (
            "any-host",
            [acl(operation="DELETE"), acl("x", operation="WRITE")],
            {},
            "User:a has DELETE, WRITE on topics from any host: ALLOW DELETE on orders from any "
            "host and 1 more.",
        ),
        (
            "over-broad",
            [acl("bil", pattern_type="PREFIXED")],
            {"topics": TOPICS, "broad_share": 0.4},
            "User:a has access to 7 of 14 topics (50%): ALLOW READ on topic bil* (prefix) from any "
            "host.",
        ),
        (
            "inherited-access",
            [acl(acl_id="1")],
            {"topics": BORN, "added_offsets": {"1": 100}},
            f"{PEOPLE} applies to a re-created topic. The ACL was added at offset 100. The topic "
            "was deleted at offset 200 and created again at offset 300.",
        ),
        (
            "orphan-resource",
            [acl()],
            {"topics": BORN[:1]},
            f"{PEOPLE} applies to no topic: topic orders was deleted at offset 200.",
        ),
        (
            "orphan-principal",
            [acl()],
            {"users": [Life(name="User:b", first_offset=1)]},
            "User:a has no SCRAM credential (the log never had one), but has 1 ACL: ALLOW READ on "
            "topic orders from any host.",
        ),
        (
            "read-without-group",
            [acl()],
            {},
            "User:a has READ on topics but on no group, so it cannot subscribe: ALLOW READ on "
            "topic orders from any host.",
        ),
        (
            "glob-lookalike",
            [acl("app-*", resource_type="GROUP")],
            {},
            "ALLOW READ on group app-* (literal) for User:a from any host matches only the group "
            'with the name "app-*": * and ? are plain characters in a LITERAL pattern.',
        ),
        (
            "open-to-everyone",
            [acl("*")],
            {"settings": EVERYONE},
            "Every client has full access to the cluster: no ACL applies.",
        ),
    ],
)
def test_a_message_names_subject_acl_and_consequence(kind, rows, known, message):
    found = [each for each in find_all(audit_of(*rows, **known)) if each.finding == kind]
    assert message in {each.message for each in found}


def test_a_message_on_an_acl_has_its_short_form(planted):
    """Whole, or without the principal where that begins the sentence."""
    for finding, acls in planted:
        about = [acls[each] for each in finding.acl_ids if str(acls[each]) == finding.subject]
        for row in about:
            forms = acl_words(row), acl_words(row, row.principal)
            assert any(form in finding.message for form in forms), finding


def test_a_message_on_a_principal_names_it_and_one_of_its_acls(planted):
    for finding, acls in planted:
        if finding.subject.startswith("User:") and finding.acl_ids:
            first = acls[finding.acl_ids[0]]
            forms = {
                acl_words(first, first.principal, kind) for kind in (None, first.resource_type)
            }
            assert any(form in finding.message for form in forms), finding
            assert first.principal in finding.message


def test_every_sentence_of_a_message_is_short(planted):
    """An ACL in its short form counts as one word, as a principal or a topic does.

    What a range will do has as many words as it has principals, hosts and operations.
    """
    for finding, acls in planted:
        if finding.finding == SLEEPING_RANGE.id:
            continue
        text = finding.message
        for each in finding.acl_ids:
            row = acls[each]
            for kind in (None, row.resource_type):
                for whose in (None, row.principal):
                    text = text.replace(acl_words(row, whose, kind), "ACL")
        assert longest(text) <= MOST_WORDS, (finding.finding, text)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.id)
def test_what_a_kind_means_is_said_in_short_and_plain_sentences(kind):
    for text in (kind.meaning, kind.fix):
        assert text[0].isupper() or text.startswith(("aclkit", "allow.everyone"))
        assert text.endswith(".")
        assert not banned(text), text
    assert longest(kind.fix) <= MOST_WORDS
    assert longest(kind.meaning) <= MOST_WORDS


def test_no_message_or_fix_hides_what_it_is_about(planted):
    for finding, _ in planted:
        assert not banned(finding.message), finding.message
        assert not banned(finding.fix), finding.fix


def test_the_findings_of_the_sample_have_the_fingerprints_of_ever():
    """Baselines and mutes know findings by these: a changed one makes them all forget."""
    pinned = set(FINGERPRINTS.read_text(encoding="utf-8").split("\n")) - {""}
    audit = audit_sample()
    every = [*find_all(audit), *find_readings(audit.acls, audit.semantics)]
    found = {f"{finding.finding} {finding.fingerprint}" for finding in every}
    assert len(pinned) > 90
    assert pinned <= found


def longest(text: str) -> int:
    """Return the number of words of the longest sentence."""
    return max(len(sentence.split()) for sentence in text.split(". "))


def banned(text: str) -> list[str]:
    return [word for word in BANNED if re.search(rf"\b{re.escape(word)}", text)]
