"""How a broker's second scan ends, and which ALLOW it names then."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.order import BrokerRescan, Ending, utf16
from aclkit.rules.decide.rules import decide
from tests.factories import acl, request


def ending(name: str, *names: str, pattern_type: str = "LITERAL") -> Ending:
    patterns = [("GROUP", pattern_type, other) for other in names]
    return BrokerRescan.of(patterns).ending("GROUP", name)


@pytest.mark.parametrize(
    ("name", "names", "wanted"),
    [
        ("#x", [], Ending.AT_WILDCARD),
        ("#x", ["*"], Ending.AT_WILDCARD),
        ("#x", ["$y"], Ending.AT_WILDCARD),
        ("#x", ["!y"], Ending.AT_WILDCARD),
        ("#x", ["#x"], Ending.AT_NAME),
        ("#x", ["#", "#x"], Ending.AT_NAME),
        ("#x", ["#x", "!"], Ending.AT_NAME),
        ("#x", ["#x", "$"], Ending.AT_WILDCARD),
        ("#x", ["#y"], Ending.HANGS),
        ("#x", ["#x", "#a"], Ending.HANGS),
        ("#xa", ["#xb"], Ending.THROWS),
        ("#x", ["#xb"], Ending.THROWS),
        ("", ["#x"], Ending.AT_WILDCARD),
        ("x", ["#x"], Ending.AT_WILDCARD),
    ],
)
def test_the_names_below_the_wildcard_say_how_it_ends(name, names, wanted):
    assert ending(name, *names) is wanted


def test_prefixed_wildcard_ends_it():
    patterns = [("GROUP", "LITERAL", "#y"), ("GROUP", "PREFIXED", "*")]
    assert BrokerRescan.of(patterns).ending("GROUP", "#x") is Ending.AT_WILDCARD


def test_only_below_the_wildcard_it_is_needed_to_know_what_comes_last():
    search = BrokerRescan.of([])
    assert search.wildcard_is_last("GROUP", "#x")
    assert not search.wildcard_is_last("GROUP", "x")


@pytest.mark.parametrize(("wildcard_is_last", "wanted"), [(True, "*"), (False, "#x")])
def test_the_allow_that_is_met_last_is_named(wildcard_is_last, wanted):
    acls = [acl("*", resource_type="GROUP"), acl("#x", resource_type="GROUP")]
    asked = request("#x", resource_type="GROUP")
    found = decide(acls, asked, BrokerSettings(), KAFKA, wildcard_is_last=wildcard_is_last)
    assert found.acl is not None
    assert found.acl.resource_name == wanted


def test_the_wildcard_itself_does_not_end_the_second_scan():
    search = BrokerRescan.of([("GROUP", "LITERAL", "*"), ("GROUP", "LITERAL", "#")])
    assert search.below == {"GROUP": [utf16("#")]}
    assert search.ending("GROUP", "#") is Ending.AT_NAME
