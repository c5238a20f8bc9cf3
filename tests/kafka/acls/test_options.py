"""kafka-acls' options: which ACLs they make, which they select, and what is refused."""

from __future__ import annotations

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.acls.creation import CreationRules, acl_filters, new_acls, random_acl_id
from aclkit.kafka.acls.options import AclOptions, entries_by_resource, resource_filters
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KIP_1042

ALICE = {"allow_principal": ("User:alice",)}


def made(**options):
    """Make ACLs and show them shortly."""
    numbers = count(1)
    acls = new_acls(AclOptions(**options), lambda: f"id-{next(numbers)}")
    return [(a.resource_type, a.resource_name, a.operation) for a in acls]


def refusal(make=new_acls, **options):
    with pytest.raises(UsageError) as error:
        make(AclOptions(**options))
    return str(error.value)


def test_an_acl_is_all_from_everywhere_on_a_literal_unless_told():
    (acl,) = new_acls(AclOptions(topic=("t",), **ALICE), lambda: "id")
    assert acl.binding == ("TOPIC", "t", "LITERAL", "User:alice", "*", "ALL", "ALLOW")
    assert acl.acl_id == "id"


def test_a_producer_gets_write_describe_create_and_its_transactional_ids():
    assert made(topic=("t",), transactional_id=("x",), producer=True, **ALICE) == [
        ("TOPIC", "t", "WRITE"),
        ("TOPIC", "t", "DESCRIBE"),
        ("TOPIC", "t", "CREATE"),
        ("TRANSACTIONAL_ID", "x", "WRITE"),
        ("TRANSACTIONAL_ID", "x", "DESCRIBE"),
    ]


def test_an_idempotent_producer_gets_the_cluster_even_beside_a_prefix():
    acls = new_acls(
        AclOptions(
            topic=("t",),
            producer=True,
            idempotent=True,
            resource_pattern_type="prefixed",
            **ALICE,
        )
    )
    assert acls[-1].binding[:3] == ("CLUSTER", "kafka-cluster", "LITERAL")
    assert acls[-1].operation == "IDEMPOTENT_WRITE"
    assert {acl.pattern_type for acl in acls[:-1]} == {"PREFIXED"}


def test_a_consumer_gets_read_describe_and_its_groups():
    assert made(topic=("t",), group=("g",), consumer=True, **ALICE) == [
        ("TOPIC", "t", "READ"),
        ("TOPIC", "t", "DESCRIBE"),
        ("GROUP", "g", "READ"),
    ]


def test_producer_and_consumer_together_describe_once():
    both = made(topic=("t",), group=("g",), producer=True, consumer=True, **ALICE)
    assert len(both) == len(set(both)) == 5


def test_principals_hosts_and_operations_are_multiplied_allow_and_deny_apart():
    acls = new_acls(
        AclOptions(
            topic=("t", "u"),
            allow_principal=("User:a", "User:b"),
            allow_host=("10.0.0.1", "10.0.0.2"),
            deny_principal=("User:c",),
            operation=("Read", "write", "READ"),
        )
    )
    assert len(acls) == 2 * (2 * 2 * 2 + 2)
    assert {a.host for a in acls if a.permission_type == "DENY"} == {"*"}


def test_names_are_trimmed_as_kafka_acls_does_transactional_ids_not():
    acls = new_acls(
        AclOptions(topic=(" t\t",), transactional_id=(" x ",), allow_principal=(" User:a ",))
    )
    assert [a.resource_name for a in acls] == ["t", " x "]
    assert {a.principal for a in acls} == {"User:a"}


@pytest.mark.parametrize("name", ["DescribeConfigs", "describeconfigs", "DESCRIBE_CONFIGS"])
def test_operations_are_read_as_kafka_writes_them_and_as_the_log_names_them(name):
    assert made(topic=("t",), operation=(name,), **ALICE) == [("TOPIC", "t", "DESCRIBE_CONFIGS")]


@pytest.mark.parametrize("resource_type", OPERATIONS_OF_TYPE)
@pytest.mark.parametrize("operation", ["READ", "CREATE_TOKENS", "IDEMPOTENT_WRITE", "ANY", "Reed"])
def test_an_operation_that_the_type_has_not_is_refused_with_kafkas_message(
    resource_type, operation
):
    options = {
        "TOPIC": {"topic": ("t",)},
        "GROUP": {"group": ("g",)},
        "CLUSTER": {"cluster_resource": True},
        "TRANSACTIONAL_ID": {"transactional_id": ("x",)},
        "DELEGATION_TOKEN": {"delegation_token": ("d",)},
        "USER": {"user_principal": ("User:u",)},
    }[resource_type]
    if operation in OPERATIONS_OF_TYPE[resource_type]:
        assert len(made(operation=(operation,), **options, **ALICE)) == 1
    else:
        said = refusal(operation=(operation,), **options, **ALICE)
        assert f"ResourceType {resource_type} only supports operations [" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ALICE, "You must provide at least one resource"),
        ({"topic": ("t",)}, "You must specify one of: --allow-principal, --deny-principal"),
        ({"producer": True, **ALICE}, "With --producer you must specify a --topic"),
        ({"topic": ("t",), "consumer": True, **ALICE}, "With --consumer you must specify"),
        (
            {
                "topic": ("t",),
                "group": ("g",),
                "cluster_resource": True,
                "consumer": True,
                **ALICE,
            },
            "no --cluster or --transactional-id",
        ),
        ({"topic": ("t",), "idempotent": True, **ALICE}, "only available if --producer is set"),
        (
            {"topic": ("t",), "producer": True, "operation": ("Read",), **ALICE},
            'Option "[producer]" can\'t be used with option "[operation]"',
        ),
        (
            {"topic": ("t",), "producer": True, "deny_principal": ("User:a",)},
            'Option "[producer]" can\'t be used with option "[deny-principal]"',
        ),
        (
            {"topic": ("t",), "resource_pattern_type": "match", **ALICE},
            "A '--resource-pattern-type' value of 'MATCH' is not valid when adding acls.",
        ),
        ({"topic": ("t",), "resource_pattern_type": "x", **ALICE}, "Unknown resource-pattern-type"),
        ({"topic": ("",), **ALICE}, "Resource name should not be empty"),
        ({"topic": ("t",), "allow_principal": ("alice",)}, "'alice' has no principal type"),
        ({"topic": ("t",), "deny_host": ("10.0.0.1",), **ALICE}, "--deny-host needs"),
        (
            {"cluster_resource": True, "resource_pattern_type": "prefixed", **ALICE},
            "The cluster has only one name",
        ),
    ],
)
def test_options_that_make_no_acls_are_refused(options, said):
    assert said in refusal(**options)


@pytest.mark.parametrize("name", ["pay*", "*s", "a?b", "**"])
def test_a_glob_in_a_literal_name_is_refused(name):
    assert "--resource-pattern-type glob" in refusal(topic=(name,), **ALICE)
    assert made(topic=(name,), resource_pattern_type="glob", **ALICE)
    assert made(topic=(name,), resource_pattern_type="prefixed", **ALICE)


def test_the_literal_star_is_every_name_and_no_glob():
    assert made(topic=("*",), **ALICE) == [("TOPIC", "*", "ALL")]


@pytest.mark.parametrize("host", ["localhost", "broker-?.example", "10.0.0.01", "x*", "%lo"])
def test_a_host_that_is_no_address_is_refused(host):
    assert "expected an IP address" in refusal(topic=("t",), allow_host=(host,), **ALICE)


def refused_range(host, level, *, cidr_hosts):
    def make(options):
        return new_acls(options, rules=CreationRules(level=level, cidr_hosts=cidr_hosts))

    return refusal(make, topic=("t",), allow_host=(host,), **ALICE)


def test_a_range_is_refused_where_none_may_be_made_and_the_version_is_said():
    said = refused_range("10.0.0.0/8", 29, cidr_hosts=True)
    assert said == (
        "Invalid host '10.0.0.0/8': CIDR-based ACL host patterns require metadata version 4.4-IV1 "
        "or higher. (29 (4.2-IV1) is in force)"
    )
    unknown = "(the version in force is unknown, and ranges are compared as text here)"
    assert unknown in refused_range("10.0.0.0/8", None, cidr_hosts=False)
    assert unknown in refusal(topic=("t",), allow_host=("10.0.0.0/8",), **ALICE)


def test_a_range_that_does_not_parse_or_holds_nothing_is_refused_where_some_may_be_made():
    said = refused_range("10.0.*/8", 32, cidr_hosts=False)
    assert said == (
        "Invalid host '10.0.*/8': Invalid CIDR notation '10.0.*/8': Could not parse [10.0.*/8]"
    )
    assert "it contains no address" in refused_range("0.0.0.0/32", None, cidr_hosts=True)


@pytest.mark.parametrize("host", ["10.0.0.0/8", "10.1.2.3/08", "[2001:DB8::]/+32", "0.0.0.0/0"])
@pytest.mark.parametrize("known", [(32, False), (None, True)])
def test_a_range_is_a_host_where_it_may_be_made(host, known):
    level, cidr_hosts = known
    rules = CreationRules(level=level, cidr_hosts=cidr_hosts)
    (acl,) = new_acls(AclOptions(topic=("t",), allow_host=(host,), **ALICE), rules=rules)
    assert acl.host == host


def test_an_empty_host_is_refused_as_kafka_does():
    assert "cannot be null or empty" in refusal(topic=("t",), allow_host=(" ",), **ALICE)


def test_an_address_that_brokers_write_otherwise_is_refused_with_their_form():
    assert "'0:0:0:0:0:0:0:1'" in refusal(topic=("t",), allow_host=("::1",), **ALICE)


@pytest.mark.parametrize("host", ["*", "10.0.0.1", "10.0.*", "0:0:0:0:0:0:0:1"])
def test_addresses_and_their_globs_are_hosts(host):
    (acl,) = new_acls(AclOptions(topic=("t",), allow_host=(host,), **ALICE))
    assert acl.host == host


def test_filters_select_the_very_acls_that_the_same_options_make():
    options = AclOptions(
        topic=("t",), group=("g",), producer=True, consumer=True, idempotent=True, **ALICE
    )
    filters = acl_filters(options)
    assert all(any(f.matches(acl, KIP_1042) for f in filters) for acl in new_acls(options))
    assert len(filters) == len(new_acls(options))


def test_filters_without_principals_select_all_of_the_resources():
    (only,) = acl_filters(AclOptions(topic=("t",), resource_pattern_type="any"))
    assert (only.pattern.pattern_type, only.entry.principal) == ("ANY", None)


@pytest.mark.parametrize(
    "options", [{"operation": ("Read",)}, {"producer": True}, {"group": ("g",), "consumer": True}]
)
def test_filters_without_principals_refuse_what_kafka_acls_would_ignore(options):
    assert "removes all ACLs" in refusal(acl_filters, topic=("t",), **options)


def test_whatever_was_stored_can_be_selected_for_removal():
    (only,) = acl_filters(AclOptions(topic=("p*",), allow_host=("localhost",), **ALICE))
    assert (only.pattern.resource_name, only.entry.host) == ("p*", "localhost")


def test_a_list_without_resources_selects_by_none():
    assert resource_filters(AclOptions()) == ()


@pytest.mark.parametrize("pattern_type", ["any", "MATCH", "prefixed", "glob"])
def test_the_cluster_is_named_by_literal_only_as_kafka_acls_names_it(pattern_type):
    options = AclOptions(
        topic=("t",), cluster_resource=True, resource_pattern_type=pattern_type, **ALICE
    )
    (only,) = resource_filters(options)
    assert only.resource_type == "TOPIC"
    with pytest.raises(UsageError, match="The cluster has only one name"):
        entries_by_resource(options)


def test_ids_are_random_version_4_uuids_that_no_tool_takes_for_an_option():
    ids = {random_acl_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", text) for text in ids)


@given(st.lists(st.sampled_from(["a", " a", "a ", "b"]), min_size=1), st.booleans())
def test_no_acl_is_made_twice(names, both):
    deny = ("User:alice",) if both else ()
    acls = new_acls(AclOptions(topic=tuple(names), deny_principal=deny, **ALICE))
    bindings = [acl.binding for acl in acls]
    assert len(bindings) == len(set(bindings)) == len({n.strip() for n in names}) * (1 + both)


def test_names_longer_than_kafka_stores_are_refused():
    assert made(topic=("x" * 32_767,), **ALICE)
    assert "at most 32767 bytes" in refusal(topic=("é" * 16_384,), **ALICE)
    assert "at most 32767 bytes" in refusal(topic=("t",), allow_principal=("User:" + "x" * 32_763,))
