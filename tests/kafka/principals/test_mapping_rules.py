"""ssl.principal.mapping.rules: the cases of Kafka's SslPrincipalMapperTest, and hostile names."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.principals.x500 import NoMatchingRuleError, map_name, parse_rules
from tests.pace import within_loops


def mapped(rules, name):
    return map_name(parse_rules(rules), name)


@pytest.mark.parametrize(
    "rules",
    [
        "DEFAULT",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, DEFAULT",
        "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L",
        "RULE:^cn=(.?),ou=(.?),dc=(.?),dc=(.?)$/$1@$2/U",
        "RULE:^CN=([^,ADEFLTU,]+)(,.*|$)/$1/",
        "RULE:^CN=([^,DEFAULT,]+)(,.*|$)/$1/",
    ],
)
def test_rules_of_kafkas_form_are_read(rules):
    assert parse_rules(rules)


@pytest.mark.parametrize(
    "rules",
    [
        "default",
        "DEFAUL",
        "DEFAULT/L",
        "DEFAULT/U",
        "RULE:CN=(.*?),OU=ServiceUsers.*/$1",
        "rule:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L/U",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/L",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/U",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/LU",
    ],
)
def test_rules_of_another_form_are_refused(rules):
    with pytest.raises(UsageError, match="Invalid rule"):
        parse_rules(rules)


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ("", 0),
        ("  RULE:// ,  DEFAULT  ", 2),
        ("  RULE:([A-Z]*)/$1/U   ,RULE:([a-z]+)/$1/,   DEFAULT  ", 3),
        (",   , , ,      , , ,   ", 0),
        (",,RULE://,,,DEFAULT,,", 2),
        ("     ,  , RULE:   /  /U    ,,  ,DEFAULT, ,", 2),
        (r"RULE:\/\\\(\)\n\t/\/\/" + "/", 1),
        ("RULE:,RULE:,/,RULE:,\\//U,RULE:,/RULE:,/,RULE:,RULE:,/L,RULE:,/L,RULE:, DEFAULT, "
         "/DEFAULT/,DEFAULT", 5),
    ],
)  # fmt: skip
def test_rules_end_at_commas_that_are_not_their_own_and_empty_ones_are_ignored(rules, count):
    assert len(parse_rules(rules)) == count


FIVE = ", ".join(
    [
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L",
        "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L",
        "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U",
        "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U",
        "DEFAULT",
    ]
)


@pytest.mark.parametrize(
    ("name", "principal"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke,ou=sme,dc=mycp,dc=com", "DUKE@SME"),
        ("cN=duke,OU=JavaSoft,O=Sun Microsystems", "DUKE"),
        ("OU=JavaSoft,O=Sun Microsystems,C=US", "OU=JavaSoft,O=Sun Microsystems,C=US"),
    ],
)
def test_the_first_rule_that_matches_the_whole_name_counts(name, principal):
    assert mapped(FIVE, name) == principal


def test_a_comma_with_a_backslash_stays_in_the_name():
    rules = "RULE:^CN=((\\\\, *|\\w)+)(,.*|$)/$1/,DEFAULT"
    assert mapped(rules, "CN=Tkac\\, Adam,OU=ITZ,DC=geodis,DC=cz") == "Tkac\\, Adam"


def test_a_name_that_no_rule_matches_is_refused():
    with pytest.raises(NoMatchingRuleError, match="No rules apply to O=x"):
        mapped("RULE:^CN=(.*)$/$1/", "O=x")


@pytest.mark.parametrize(
    ("rule", "name", "principal"),
    [
        ("RULE:^CN=(.*)$/$1-$2/", "CN=a", "a-$2"),
        ("RULE:^CN=(.*)$/$12/", "CN=a", "a2"),
        ("RULE:^CN=(.*)$/$0/", "CN=a", "CN=a"),
        (r"RULE:^CN=(.*)$/\$1/", "CN=a", "$1"),
        (r"RULE:^CN=(.*)$/a\/b/", "CN=a", "a/b"),
        ("RULE:^CN=(x)?(.*)$/$1$2/", "CN=a", "a"),
        ("RULE:.*/X/", "abc", "XX"),
        ("RULE:^.*$/X/", "abc", "X"),
        ("RULE:a*?/b/", "aa", "babab"),
    ],
)
def test_replacements_are_javas(rule, name, principal):
    assert mapped(rule, name) == principal


@pytest.mark.parametrize("replacement", ["$x", "$", "a\\"])
def test_a_replacement_at_which_java_would_throw_is_refused(replacement):
    with pytest.raises(UsageError):
        parse_rules(f"RULE:^(a)$/{replacement}/")


def test_a_group_that_a_pattern_without_groups_lacks_is_refused():
    with pytest.raises(UsageError, match="its pattern has no group 1"):
        parse_rules("RULE:^a$/$1/")


@pytest.mark.parametrize("pattern", ["(?=a)a", r"(a)\1", "(a", "a++b", "(?<!x)y"])
def test_patterns_that_cannot_be_matched_in_linear_time_are_refused(pattern, capfd):
    with pytest.raises(UsageError, match="without look-around"):
        parse_rules(f"RULE:{pattern}/x/")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(.*)*,(.*)*,(.*)*,(.*)*,x$"])
def test_no_name_makes_a_pattern_slow(pattern):
    rules = parse_rules(f"RULE:{pattern}/x/,DEFAULT")
    name = "a," * 20_000 + "!"
    with within_loops(100):
        assert map_name(rules, name) == name


@given(st.text("RULE:/\\,$1LUDEFA (x)", max_size=30))
def test_whatever_stands_in_the_rules_is_read_or_refused(text):
    try:
        rules = parse_rules(text)
    except UsageError:
        return
    assert all(isinstance(rule.apply("x"), str | None) for rule in rules)


def test_without_the_library_default_works_and_a_rule_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    assert map_name(parse_rules("DEFAULT"), "CN=a") == "CN=a"
    with pytest.raises(UsageError, match="google-re2"):
        parse_rules("RULE:a/b/")
