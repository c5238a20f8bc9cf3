"""Rules for names: which name of one cluster is which of the other, and what is refused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.questions.clusters.name_map import (
    NameMap,
    Rule,
    parse_principal_rule,
    parse_rule,
)

TEXTS = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)]
PREFIXES = [text for text in TEXTS if len(text) <= 2]
RULES = st.lists(st.tuples(*[st.sampled_from(PREFIXES)] * 2).map(lambda pair: Rule(*pair)),
                 max_size=3)  # fmt: skip


def made(*texts):
    return NameMap.of(map(parse_rule, texts))


def test_a_rule_replaces_the_beginning():
    names = made("stage.=prod.")
    assert names.there("stage.a") == "prod.a"
    assert names.back("prod.a") == "stage.a"


def test_a_name_that_no_rule_is_about_stays():
    assert made("stage.=prod.").there("shared") == "shared"


def test_a_name_that_already_has_the_new_beginning_has_no_counterpart():
    names = made("stage.=prod.")
    assert names.there("prod.a") is None
    assert names.back("stage.a") is None


def test_a_name_that_is_shorter_than_the_beginning_stays():
    assert made("stage.=prod.").there("sta") == "sta"


def test_the_longer_rule_wins():
    names = made("stage.=prod.", "stage.shared.=stage.shared.")
    assert names.there("stage.shared.a") == "stage.shared.a"
    assert names.there("stage.b") == "prod.b"
    assert names.back("prod.shared.a") is None


def test_two_names_can_be_swapped():
    names = made("a=b", "b=a")
    assert (names.there("a1"), names.there("b1")) == ("b1", "a1")


def test_an_empty_beginning_is_that_of_every_name():
    names = made("=prod.")
    assert names.there("a") == "prod.a"
    assert names.back("a") is None


@pytest.mark.parametrize("name", ["", "*a"])
def test_a_bare_rest_is_a_name_that_brokers_decide_alike(name):
    assert made("=prod.").there(name) is None
    assert made("prod.=").back(name) is None


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("a=b", "a=c"), "names that begin with 'a' would have two counterparts"),
        (("a=b", "c=b"), "'ax' and 'cx' would both become 'bx'"),
        (("stage.=prod.", "stage.eu.=prod.europe."),
         "'stage.europe.x' and 'stage.eu.x' would both become 'prod.europe.x'"),
        (("*=b",), "a prefix has no * and no ?"),
    ],
)  # fmt: skip
def test_rules_that_contradict_each_other_are_refused_with_the_reason(texts, reason):
    with pytest.raises(UsageError, match="ule") as caught:
        made(*texts)
    assert reason in str(caught.value)


@pytest.mark.parametrize("text", ["stage", "a=b=c"])
def test_a_rule_has_one_equals_sign(text):
    with pytest.raises(UsageError, match="Expected one ="):
        parse_rule(text)


@pytest.mark.parametrize("text", ["stage-=prod-", "User:a=Group:b", "User:a", ":a=:b"])
def test_a_rule_for_principals_has_one_type(text):
    with pytest.raises(UsageError, match="TYPE:PREFIX"):
        parse_principal_rule(text)


@given(RULES)
def test_the_way_back_leads_to_the_name_and_no_two_names_become_one(rules):
    try:
        names = NameMap.of(rules)
    except UsageError:
        return
    images = {name: names.there(name) for name in TEXTS}
    mapped = {name: image for name, image in images.items() if image is not None}
    assert len(set(mapped.values())) == len(mapped)
    assert all(names.back(image) == name for name, image in mapped.items())


@given(RULES)
def test_rules_are_refused_only_where_two_names_would_become_one_or_one_two(rules):
    try:
        NameMap.of(rules)
    except UsageError:
        longest = {}
        for name in TEXTS:
            fitting = [rule for rule in rules if name.startswith(rule.ours)]
            most = max((len(rule.ours) for rule in fitting), default=None)
            longest[name] = {
                rule.theirs + name[len(rule.ours) :] for rule in fitting if len(rule.ours) == most
            }
        images = [image for found in longest.values() for image in found]
        assert len(set(images)) < len(images) or any(len(found) > 1 for found in longest.values())
