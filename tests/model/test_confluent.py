"""Principals of Confluent Cloud: recognised by their names, and noted once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.confluent import (
    account_kind,
    caveats_on_roles,
    integer_hint,
    notes_on_accounts,
)


@pytest.mark.parametrize(
    ("principal", "cluster", "kind"),
    [
        ("User:sa-l7v772", "prod", "service account"),
        ("User:u-1abc2d", "prod", "user account"),
        ("User:pool-aB3x", "prod", "identity pool"),
        ("User:sa-orders", "prod", None),
        ("User:sa-orders", "lkc-1a2b3", "service account"),
        ("User:sa-l7v772\n", "lkc-1a2b3", None),
        ("Group:sa-l7v772", "lkc-1a2b3", None),
        ("User:sa-a.b.c.1", "lkc-1a2b3", None),
        ("User:12345", "lkc-1a2b3", None),
        ("User:alice", "lkc-1a2b3", None),
    ],
)
def test_an_account_is_known_by_its_name_and_of_other_clusters_by_a_digit(principal, cluster, kind):
    assert account_kind(principal, cluster) == kind


def test_roles_are_noted_once_for_many_accounts():
    (note,) = caveats_on_roles(["User:a", "User:sa-l7v772", "User:sa-l7v773"], "prod")
    assert note.startswith("User:sa-l7v772 has the name of a service account")
    assert "a role can allow what no ACL allows" in note
    assert not [*caveats_on_roles(["User:alice"], "lkc-1")]


def test_an_integer_id_is_a_hint_for_accounts_only():
    known = ["User:12345", "User:678", "User:x1"]
    assert "User:12345, User:678" in integer_hint("User:sa-l7v772", known, "prod")
    assert integer_hint("User:alice", known, "prod") == ""
    assert integer_hint("User:sa-l7v772", ["User:alice"], "prod") == ""


@pytest.mark.parametrize(
    ("cluster", "principals", "count"),
    [
        ("prod", ["User:alice", "User:12345"], 0),
        ("prod", ["User:sa-l7v772"], 1),
        ("prod", ["User:sa-l7v772", "User:12345"], 2),
        ("lkc-1", ["User:12345"], 2),
        ("lkc-1", [], 1),
    ],
)
def test_a_run_notes_accounts_and_integer_ids_of_confluent_cloud_alone(cluster, principals, count):
    notes = [*notes_on_accounts(cluster, principals * 3)]
    assert len(notes) == count
    assert all("Confluent Cloud" in note for note in notes)


@given(st.text(), st.sampled_from(["prod", "lkc-1", ""]))
def test_no_name_without_the_form_of_an_id_is_an_account(name, cluster):
    kind = account_kind(name, cluster)
    assert kind is None or name.startswith(("User:sa-", "User:u-", "User:pool-"))
    assert bool([*caveats_on_roles([name], cluster)]) == (kind is not None)


@given(st.from_regex(r"[a-z0-9]{6}", fullmatch=True))
def test_every_id_of_a_cluster_of_confluent_cloud_is_an_account(letters):
    assert account_kind(f"User:sa-{letters}", "lkc-1a2b3") == "service account"
