"""On how many names of a pattern a request is allowed: as trying short names says."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.semantics import KIP_1042
from aclkit.rules.names.cover import ALL, NONE, SOME, UNKNOWN, find_extent
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import of_pattern
from aclkit.rules.patterns.match import pattern_matches

TOPICS = domain_of("TOPIC")
SHORT = ["".join(letters) for size in range(1, 6) for letters in product("ab", repeat=size)]
PATTERNS = st.tuples(
    st.sampled_from(["LITERAL", "PREFIXED", "GLOB"]), st.text("ab*?", min_size=1, max_size=3)
)


def symbols(patterns):
    return [row for pattern in patterns for row in of_pattern("TOPIC", *pattern, KIP_1042)]


def is_any(patterns, name):
    return any(pattern_matches(*pattern, name, KIP_1042) for pattern in patterns)


@given(
    PATTERNS,
    st.lists(PATTERNS, max_size=3),
    st.lists(PATTERNS, max_size=3),
    st.lists(PATTERNS, max_size=2),
    st.none() | st.lists(PATTERNS, max_size=2),
)
def test_an_extent_is_what_each_name_says(within, allow, deny, but, anybody):
    found = find_extent(
        symbols([within]), symbols(allow), symbols(deny), TOPICS, Budget(),
        but=symbols(but), anybody=None if anybody is None else symbols([*anybody, *allow, *deny]),
    )  # fmt: skip

    def is_allowed(name):
        is_open = anybody is not None and not is_any([*anybody, *allow, *deny], name)
        return not is_any(deny, name) and (is_any(allow, name) or is_open)

    def is_meant(name):
        return is_any([within], name) and not is_any(but, name)

    for name in filter(is_meant, SHORT):
        assert found.word in ((ALL, SOME) if is_allowed(name) else (NONE, SOME))
    for name, wanted in ((found.allowed, True), (found.denied, False)):
        assert name is None or (is_meant(name) and is_allowed(name) is wanted)
    assert (found.word == SOME) is (found.allowed is not None and found.denied is not None)


def test_what_the_budget_ends_is_unknown():
    within, deny = symbols([("PREFIXED", "a")]), symbols([("GLOB", "*a????????")])
    found = find_extent(within, within, deny, TOPICS, Budget(per_question=2))
    assert found.word == UNKNOWN
    assert find_extent(within, within, deny, TOPICS, Budget()).word == SOME


def test_a_pattern_that_no_name_can_have_allows_nothing():
    within = symbols([("PREFIXED", "no blanks")])
    assert find_extent(within, within, (), TOPICS, Budget()) == (NONE, None, None)
