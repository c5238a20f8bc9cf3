"""What Kafka is not asked, and why: guide/KAFKA.md 2.2 and 2.4, a test for each rule."""

from __future__ import annotations

import pytest

from aclkit.kafka.verify.compare import Refusals
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import decide
from tests.factories import acl, request

NOBODY = BrokerSettings()
ROOT = BrokerSettings(super_users=frozenset({"User:root", "User:*"}))


def group(name: str, **fields: str):
    return acl(name, resource_type="GROUP", **fields)


def reason(acls, asked, settings=NOBODY) -> str:
    """Return the beginning of the reason, or nothing where Kafka can be asked."""
    found = decide(acls, asked, settings, KAFKA)
    deny = found.acl if found.decision == "DENIED" else None
    told = Refusals.of(acls, settings).reason(asked, deny) or ""
    return told.partition(":")[0]


def of_group(acls, name: str, **fields: str) -> str:
    return reason(acls, request(name, resource_type="GROUP", **fields))


HANGS = "Kafka hangs"
THROWS = "Kafka throws StringIndexOutOfBoundsException"
NO_COLON = "Kafka throws IllegalStateException"


def test_a_plain_request_is_asked():
    assert reason([acl("orders")], request("orders")) == ""


def test_one_letter_shared_with_a_name_below_the_wildcard_hangs():
    assert of_group([group("#y")], "#x") == HANGS
    assert of_group([group("$D")], "$") == HANGS


def test_two_letters_shared_with_a_name_below_the_wildcard_throw():
    assert of_group([group("#abc")], "#abd") == THROWS
    assert of_group([group("$Default")], "$D") == THROWS


def test_letters_are_those_of_java():
    key, lock = "\U0001f511", "\U0001f512"  # two code units each, and the first is the same
    assert of_group([group(f"#{key}")], f"#{lock}") == THROWS
    assert of_group([group("#\ue000")], f"#{lock}") == HANGS


def test_a_name_that_begins_the_asked_one_misleads_nobody():
    assert of_group([group("#x"), group("#", pattern_type="PREFIXED")], "#x") == ""
    assert of_group([group("#")], "#x") == ""


def test_a_name_in_between_ends_the_search():
    assert of_group([group("#y"), group("$z")], "#x") == ""
    assert of_group([group("#y"), group("!z")], "#x") == HANGS


def test_the_prefix_of_the_wildcard_itself_ends_the_search():
    assert of_group([group("#y"), group("*", pattern_type="PREFIXED")], "#x") == ""
    assert of_group([group("#y"), group("*", pattern_type="GLOB")], "#x") == HANGS
    assert of_group([group("#y"), group("*", principal="User:b")], "#x") == HANGS


def test_other_types_do_not_matter():
    assert of_group([acl("#y", resource_type="USER")], "#x") == ""


def test_names_above_the_wildcard_do_not_matter():
    assert of_group([group("+y")], "+x") == ""
    assert of_group([group("#y")], "x") == ""
    assert of_group([group("#y")], "") == ""


def test_a_deny_ends_the_search_before_it_is_lost():
    deny = group("#", pattern_type="PREFIXED", permission_type="DENY")
    assert of_group([group("#y"), deny], "#x") == ""
    assert of_group([group("#y"), deny], "#x", principal="User:b") == HANGS
    assert of_group([group("#y"), group("*", permission_type="DENY")], "#x") == ""


def test_a_session_of_the_wildcard_principal_throws():
    assert reason([], request(principal="User:*")) == "Kafka throws IllegalArgumentException"


def test_super_users_are_let_through_before_anything_goes_wrong():
    acls = [group("#y"), acl("orders", principal="nobody")]
    for principal in ("User:root", "User:*"):
        for asked in (request("#x", resource_type="GROUP"), request("orders")):
            asked = request(
                asked.resource_name, resource_type=asked.resource_type, principal=principal
            )
            assert reason(acls, asked, ROOT) == ""


def test_an_acl_without_a_colon_throws_where_it_reaches_the_name():
    acls = [acl("pay", pattern_type="PREFIXED", principal="bob", host="10.9.9.9")]
    assert reason(acls, request("payments")) == NO_COLON
    assert reason(acls, request("orders")) == ""
    assert reason(acls, request("payments", resource_type="GROUP")) == ""


@pytest.mark.parametrize(("name", "wanted"), [("payments", ""), ("pay", NO_COLON)])
def test_a_deny_that_comes_before_an_acl_without_a_colon_ends_the_search(name, wanted):
    acls = [
        acl("payments", principal="User:a", permission_type="DENY"),
        acl("pay", pattern_type="PREFIXED", principal="bob"),
    ]
    assert reason(acls, request(name)) == wanted


def test_a_deny_that_comes_behind_an_acl_without_a_colon_does_not_help():
    acls = [acl("payments", principal="bob"), acl("*", permission_type="DENY")]
    assert reason(acls, request("payments")) == NO_COLON


def test_a_principal_without_a_colon_is_no_session():
    assert reason([], request(principal="bob")) == "no session has such a principal"


@pytest.mark.parametrize("host", ["localhost", "", "fe80:0:0:0:0:0:0:1%eth0", "10.0.0.256"])
def test_what_is_no_address_is_no_host(host):
    assert reason([], request(host=host)).startswith("no host")


def test_a_host_that_java_writes_otherwise_is_never_seen():
    assert reason([], request(host="::1")) == "no broker sees this host"
