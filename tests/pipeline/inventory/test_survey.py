"""Rules of aclkit.pipeline.inventory.survey: what a run asks about."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.inventory.entry import ACL, ALWAYS, FILE, LOG, SETTING, Entry
from aclkit.pipeline.inventory.survey import Given, Texts, survey

TYPES_WITH_OTHERS = {"TOPIC", "GROUP", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"}


def take(
    *,
    patterns=(),
    principals=(),
    hosts=(),
    log=(),
    given=None,
    extend=False,
    super_users=(),
    semantics=KIP_1042,
):
    return survey(
        Texts(patterns=tuple(patterns), principals=tuple(principals), hosts=tuple(hosts)),
        log,
        Given(entries=given or {}, extend=extend),
        BrokerSettings(super_users=frozenset(super_users)),
        semantics,
    )


def names(entries):
    return [entry.name for entry in entries]


def by_name(entries):
    return {entry.name: entry for entry in entries}


def topics(inventory):
    return {e.name for e in inventory.resources if e.resource_type == "TOPIC"} - {ANY_OTHER}


def from_file(*found):
    return [Entry(name=name, origin=FILE) for name in found]


def test_empty_cluster_is_asked_about_any_other_and_its_one_resource():
    inventory = take()
    assert names(inventory.principals) == [ANY_OTHER_PRINCIPAL]
    assert names(inventory.hosts) == [ANY_OTHER]
    assert {e.key for e in inventory.resources} == {
        ("CLUSTER", "kafka-cluster"),
        *((resource_type, ANY_OTHER) for resource_type in TYPES_WITH_OTHERS),
    }


def test_any_other_rows_carry_a_witness_and_are_always_there():
    inventory = take()
    others = [
        e for e in (*inventory.principals, *inventory.hosts, *inventory.resources) if e.is_any_other
    ]
    assert {e.origin for e in others} == {ALWAYS}
    assert len(others) == 2 + len(TYPES_WITH_OTHERS)
    assert by_name(inventory.principals)[ANY_OTHER_PRINCIPAL].witness == "User:any-other"


def test_scram_users_and_exact_acl_principals_are_asked_about():
    inventory = take(
        principals=("User:a", "User:b*", "User:*", "nocolon"),
        log=[Entry(name="User:l", origin=LOG)],
    )
    found = by_name(inventory.principals)
    assert {name: entry.origin for name, entry in found.items()} == {
        "User:l": LOG, "User:a": ACL, ANY_OTHER_PRINCIPAL: ALWAYS,
    }  # fmt: skip


def test_what_kip_1042_takes_for_a_glob_is_a_name_to_kafka():
    inventory = take(principals=("User:b*",), semantics=KAFKA)
    assert "User:b*" in names(inventory.principals)


def test_super_users_are_asked_about_whatever_the_file_says():
    inventory = take(given={PRINCIPALS: from_file("User:f")}, super_users=["User:s"])
    assert {n: e.origin for n, e in by_name(inventory.principals).items()} == {
        "User:f": FILE, "User:s": SETTING, ANY_OTHER_PRINCIPAL: ALWAYS,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("extend", "expected"), [(False, {"User:f"}), (True, {"User:f", "User:a", "User:l"})]
)
def test_principals_of_a_file_replace_those_of_the_log_or_add_to_them(extend, expected):
    inventory = take(
        principals=("User:a",),
        log=[Entry(name="User:l", origin=LOG)],
        given={PRINCIPALS: from_file("User:f")},
        extend=extend,
    )
    assert set(names(inventory.principals)) == expected | {ANY_OTHER_PRINCIPAL}


@pytest.mark.parametrize(
    ("extend", "expected"), [(False, {"10.0.0.9"}), (True, {"10.0.0.9", "10.0.0.1"})]
)
def test_hosts_of_a_file_replace_those_of_the_acls_or_add_to_them(extend, expected):
    inventory = take(hosts=("10.0.0.1",), given={HOSTS: from_file("10.0.0.9")}, extend=extend)
    assert set(names(inventory.hosts)) == expected | {ANY_OTHER}


@pytest.mark.parametrize(("extend", "expected"), [(False, {"f"}), (True, {"f", "l"})])
def test_resources_of_a_file_replace_those_of_the_log_or_add_to_them(extend, expected):
    inventory = take(
        log=[Entry(name="l", resource_type="TOPIC", origin=LOG)],
        given={RESOURCES: [Entry(name="f", resource_type="TOPIC", origin=FILE)]},
        extend=extend,
    )
    assert topics(inventory) == expected
    assert ("CLUSTER", "kafka-cluster") in {e.key for e in inventory.resources}


def test_file_of_one_dimension_leaves_the_others_alone():
    inventory = take(
        principals=("User:a",), hosts=("10.0.0.1",), given={PRINCIPALS: from_file("User:f")}
    )
    assert "10.0.0.1" in names(inventory.hosts)


def test_row_of_the_file_wins_over_the_logs_row_of_the_same_name():
    mine = Entry(name="User:a", origin=FILE, attributes={"team": "red"})
    inventory = take(principals=("User:a",), given={PRINCIPALS: [mine]}, extend=True)
    assert by_name(inventory.principals)["User:a"] is mine


def test_only_hosts_that_a_broker_could_see_are_asked_about():
    inventory = take(hosts=("*", "::1", "localhost", "10.0.0.1", "0:0:0:0:0:0:0:1", "10.*"))
    assert set(names(inventory.hosts)) == {"10.0.0.1", "0:0:0:0:0:0:0:1", ANY_OTHER}


def test_topics_are_those_alive_and_not_those_that_acls_name():
    inventory = take(
        patterns=[("TOPIC", "LITERAL", "deleted")],
        log=[Entry(name="alive", resource_type="TOPIC", origin=LOG)],
    )
    assert topics(inventory) == {"alive"}


def test_topics_of_a_listing_are_those_that_literal_acls_name():
    patterns = [("TOPIC", "LITERAL", "t"), ("TOPIC", "PREFIXED", "p"), ("TOPIC", "LITERAL", "*")]
    assert topics(take(patterns=patterns)) == {"t"}


def test_resources_of_other_types_are_those_that_literal_acls_name():
    inventory = take(
        patterns=[
            ("GROUP", "LITERAL", "g"),
            ("GROUP", "PREFIXED", "p"),
            ("GROUP", "GLOB", "x*"),
            ("GROUP", "LITERAL", "*"),
            ("USER", "LITERAL", "u"),
            ("UNKNOWN(9)", "LITERAL", "z"),
        ],
        log=[Entry(name="alive", resource_type="TOPIC", origin=LOG)],
    )
    named = {e.key for e in inventory.resources if e.origin == ACL}
    assert named == {("GROUP", "g"), ("USER", "u")}


def test_witness_of_a_type_avoids_its_patterns_and_not_those_of_others():
    inventory = take(patterns=[("TOPIC", "PREFIXED", "any"), ("TOPIC", "LITERAL", "*")])
    witness = {e.resource_type: e.witness for e in inventory.resources if e.is_any_other}
    assert not witness["TOPIC"].startswith("any")
    assert witness["GROUP"] == "any-other"


def test_witness_is_in_no_inventory():
    inventory = take(
        log=[Entry(name="User:any-other", origin=LOG)],
        given={HOSTS: from_file("192.0.2.1")},
    )
    assert by_name(inventory.principals)[ANY_OTHER_PRINCIPAL].witness != "User:any-other"
    assert by_name(inventory.hosts)[ANY_OTHER].witness == "192.0.2.2"


def test_any_other_without_a_witness_is_left_out_with_a_note():
    inventory = take(patterns=[("TOPIC", "GLOB", "?*")])
    assert ("TOPIC", ANY_OTHER) not in {e.key for e in inventory.resources}
    assert ("GROUP", ANY_OTHER) in {e.key for e in inventory.resources}
    assert any(note.startswith(f"TOPIC {ANY_OTHER} was left out") for note in inventory.notes)


def test_principal_without_a_witness_is_left_out_with_a_note():
    inventory = take(principals=("User:?*",))
    assert ANY_OTHER_PRINCIPAL not in names(inventory.principals)
    assert any(note.startswith(f"{ANY_OTHER_PRINCIPAL} was left out") for note in inventory.notes)


@pytest.mark.parametrize(
    ("arguments", "symbol"),
    [
        ({"principals": (ANY_OTHER_PRINCIPAL,)}, ANY_OTHER_PRINCIPAL),
        ({"log": [Entry(name=ANY_OTHER_PRINCIPAL, origin=LOG)]}, ANY_OTHER_PRINCIPAL),
        ({"patterns": [("GROUP", "LITERAL", ANY_OTHER)]}, ANY_OTHER),
    ],
)
def test_real_name_that_equals_a_symbol_is_left_out_with_a_note(arguments, symbol):
    inventory = take(**arguments)
    note = f"The name {symbol} was left out, because aclkit uses it as a symbol."
    assert note in inventory.notes
    real = [
        e
        for e in (*inventory.principals, *inventory.resources)
        if e.name == symbol and not e.is_any_other
    ]
    assert real == []


def test_notes_say_how_many_came_from_where():
    inventory = take(
        principals=("User:a", "User:b"), log=[Entry(name="User:l", origin=LOG)],
        super_users=["User:s"],
    )  # fmt: skip
    assert (
        "Principals: 1 from the cluster, 2 named only in ACLs, 1 named only in super.users."
        in inventory.notes
    )
    assert "Hosts: none." in inventory.notes
    assert "Resources: the cluster." in inventory.notes


def test_where_acls_single_out_every_name_no_other_is_asked_about_and_a_note_says_so():
    letters = f"{string.ascii_letters}{string.digits}-_."
    inventory = take(
        patterns=[("TOPIC", "PREFIXED", letter) for letter in letters],
        principals=["User:?*"],
        hosts=[f"{number}.*" for number in range(256)],
    )
    assert {e.resource_type for e in inventory.resources if e.is_any_other} == (
        TYPES_WITH_OTHERS - {"TOPIC"}
    )
    assert ANY_OTHER_PRINCIPAL not in names(inventory.principals)
    (host,) = (e for e in inventory.hosts if e.is_any_other)
    assert ":" in host.witness
    assert (
        "TOPIC <any-other> was left out, because ACLs name every possible name." in inventory.notes
    )


RANGES = replace(KAFKA, cidr_hosts=True)
NESTED = ("*", "10.1.2.3/8", "10.1.0.0/16", "10.1.2.3", "1.2.3.4/32", "10.0.0.0/33", "0.0.0.0/32")


def test_a_range_is_asked_about_by_what_no_acl_names_within_it():
    inventory = take(hosts=NESTED, semantics=RANGES)
    found = by_name(inventory.hosts)
    assert {name: entry.origin for name, entry in found.items()} == {
        "10.1.2.3": ACL, "1.2.3.4": ACL, ANY_OTHER: ALWAYS,
        "<any-other in 10.0.0.0/8>": ALWAYS, "<any-other in 10.1.0.0/16>": ALWAYS,
    }  # fmt: skip
    wide, narrow = (found[f"<any-other in {text}>"] for text in ("10.0.0.0/8", "10.1.0.0/16"))
    assert (wide.witness, narrow.witness) == ("10.0.0.1", "10.1.0.1")
    assert dict(wide.attributes) == {"range": "10.0.0.0/8 without 10.1.0.0/16"}
    assert "Hosts: 2 stand for addresses within a range that no ACL names." in inventory.notes


def test_where_ranges_do_not_decide_they_are_no_hosts():
    inventory = take(hosts=NESTED, semantics=KAFKA)
    assert names(inventory.hosts) == ["10.1.2.3", ANY_OTHER]


def test_a_file_of_hosts_takes_no_range_away():
    inventory = take(hosts=("10.0.0.0/31",), given={HOSTS: from_file("10.0.0.1")}, semantics=RANGES)
    found = by_name(inventory.hosts)
    assert set(found) == {"10.0.0.1", ANY_OTHER, "<any-other in 10.0.0.0/31>"}
    assert found["<any-other in 10.0.0.0/31>"].witness == "10.0.0.0"


def test_a_range_of_which_every_address_is_named_is_left_out_and_said():
    inventory = take(hosts=("10.0.0.0/31", "10.0.0.0", "10.0.0.1"), semantics=RANGES)
    assert names(inventory.hosts) == ["10.0.0.0", "10.0.0.1", ANY_OTHER]
    assert any("<any-other in 10.0.0.0/31> was left out" in note for note in inventory.notes)
