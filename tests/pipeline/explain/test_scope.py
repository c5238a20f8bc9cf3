"""Rules of aclkit.pipeline.explain.scope: classes of principals, and hosts that ACLs match."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import scope
from aclkit.pipeline.explain.scope import classify, match_hosts
from aclkit.rules.patterns import identity as patterns_identity
from aclkit.rules.patterns import match
from aclkit.rules.patterns.match import host_matches, names_exactly, principal_matches
from tests import strategies as small


def test_principals_that_the_same_globs_match_are_one_class():
    found = classify(["User:ab", "User:ac", "User:b"], ["User:a*", "User:*"], KIP_1042)
    assert found.class_of["User:ab"] == found.class_of["User:ac"] != found.class_of["User:b"]
    assert found.texts_of[found.class_of["User:ab"]] == ("User:*", "User:a*")
    assert found.texts_of[found.class_of["User:b"]] == ("User:*",)


def test_exact_principals_make_no_class():
    found = classify(["User:a", "User:b"], ["User:a"], KIP_1042)
    assert found.class_of["User:a"] == found.class_of["User:b"]
    assert list(found.texts_of.values()) == [()]


def test_kafka_knows_one_class_because_only_the_wildcard_matches_many():
    found = classify(["User:ab", "Group:x"], ["User:a*", "User:*", "*:*"], KAFKA)
    assert len(set(found.class_of.values())) == 1
    assert list(found.texts_of.values()) == [("User:*",)]


def test_principal_without_a_colon_belongs_to_no_class():
    found = classify(["User:alice"], ["alice", "*"], KIP_1042)
    assert list(found.texts_of.values()) == [()]


def test_class_id_depends_on_the_texts_and_not_on_their_order():
    texts = ["User:*", "User:a*", "*:a"]
    one = classify(["User:a", "User:b"], texts, KIP_1042)
    other = classify(["User:b", "User:a"], reversed(texts), KIP_1042)
    assert one.class_of == other.class_of


@given(st.lists(small.principals, max_size=6), st.lists(small.acl_principals), small.semantics)
def test_texts_of_a_class_are_the_shared_ones_that_match_each_member(principals, texts, semantics):
    found = classify(principals, texts, semantics)
    for principal in principals:
        assert set(found.texts_of[found.class_of[principal]]) == {
            text
            for text in texts
            if not names_exactly(text, semantics) and principal_matches(text, principal, semantics)
        }


def test_any_host_is_paired_with_the_symbol_though_it_is_not_asked_about():
    assert match_hosts(["*"], ["10.0.0.1"], KAFKA) == [("*", "10.0.0.1"), ("*", ANY_OTHER)]


def test_named_host_is_paired_with_itself_only():
    assert match_hosts(["10.0.0.1", "::1"], ["10.0.0.1", "10.0.0.2"], KAFKA) == [
        ("10.0.0.1", "10.0.0.1")
    ]


def test_host_glob_matches_only_where_globs_are_read():
    hosts = ["10.0.0.1", "10.1.0.1"]
    assert match_hosts(["10.0.*"], hosts, KIP_1042) == [("10.0.*", "10.0.0.1")]
    assert match_hosts(["10.0.*"], hosts, KAFKA) == []


@given(st.lists(small.acl_hosts), st.sets(small.hosts), small.semantics)
def test_host_pairs_are_those_that_match(acl_hosts, hosts, semantics):
    assert set(match_hosts(acl_hosts, hosts, semantics)) == {
        (acl_host, host)
        for acl_host in acl_hosts
        for host in (*hosts, ANY_OTHER)
        if host_matches(acl_host, host, semantics)
    }


def test_any_other_principal_is_in_the_class_of_what_matches_everybody():
    found = classify([ANY_OTHER_PRINCIPAL], ["User:*", "User:a*", "*:*"], KIP_1042)
    assert found.texts_of[found.class_of[ANY_OTHER_PRINCIPAL]] == ("*:*", "User:*")


def counted(monkeypatch, name):
    """Count the calls of a function of the specification."""
    calls = []
    real = getattr(match, name)

    def call(*arguments):
        calls.append(arguments)
        return real(*arguments)

    for module in (scope, patterns_identity):
        monkeypatch.setattr(module, name, call, raising=False)
    return calls


def test_classes_of_many_principals_and_globs_compare_few_of_them(monkeypatch):
    calls = counted(monkeypatch, "principal_matches")
    principals = [f"User:u{number:04}" for number in range(500)]
    globs = [f"User:*{number:04}" for number in range(500)]
    found = classify(principals, globs, KIP_1042)
    assert found.texts_of[found.class_of["User:u0042"]] == ("User:*0042",)
    assert len(calls) < 5 * len(principals)


def test_many_hosts_are_paired_by_comparing_few_of_them(monkeypatch):
    calls = counted(monkeypatch, "host_matches")
    hosts = [f"10.0.{number >> 8}.{number & 255}" for number in range(600)]
    globs = [f"10.*.{number >> 8}.{number & 255}" for number in range(600)]
    assert len(match_hosts([*hosts, *globs], hosts, KIP_1042)) == 1_200
    assert len(calls) < 10 * len(hosts)
