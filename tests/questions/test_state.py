"""The names that are asked about where a change starts from files."""

from __future__ import annotations

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA
from aclkit.questions.state import names_in
from tests.factories import acl


def test_each_name_that_an_acl_spells_out_is_known_once():
    asked = names_in([acl("a", principal="User:x"), acl("a", principal="User:x")], KAFKA)
    assert asked.principals == ("User:x", ANY_OTHER_PRINCIPAL)
    assert asked.resources[0] == Resource("TOPIC", "a")
    assert asked.resources.count(Resource("TOPIC", "a")) == 1


def test_wildcards_and_prefixes_are_no_names():
    wide = [acl("*", principal="User:*"), acl("a", pattern_type="PREFIXED", principal="User:*")]
    asked = names_in(wide, KAFKA)
    assert asked.principals == (ANY_OTHER_PRINCIPAL,)
    assert all(resource.resource_name == ANY_OTHER for resource in asked.resources)


def test_any_other_host_is_asked_about_though_no_acl_names_one():
    assert names_in([acl("a")], KAFKA).hosts == (ANY_OTHER,)
    assert names_in([acl("a", host="10.0.0.1")], KAFKA).hosts == ("10.0.0.1", ANY_OTHER)


def test_any_other_name_of_each_type_is_asked_about_and_the_cluster_has_one():
    others = {each.resource_type for each in names_in([], KAFKA).resources}
    assert "TOPIC" in others
    assert "CLUSTER" not in others
