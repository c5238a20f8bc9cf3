"""The index of principals and hosts finds exactly what the specification says."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.semantics import KIP_1042
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.match import host_matches, principal_matches
from tests.strategies import acl_hosts, acl_principals, hosts, principals, semantics

PARTS = st.text("ab*?:", max_size=4)
RANGE = st.builds("10.{}.0.{}/{}".format, *[st.integers(0, 3)] * 2, st.integers(0, 33))
INSIDE = st.builds("10.{}.0.{}".format, *[st.integers(0, 4)] * 2) | RANGE.map(
    "<any-other in {}>".format
)
TEXTS = PARTS | st.sampled_from([ANY_OTHER, ANY_OTHER_PRINCIPAL, "User:*", "*", "", ":"])
WRITTEN = st.builds("{}:{}".format, PARTS, PARTS)


@given(st.lists(acl_principals | TEXTS | WRITTEN), principals | TEXTS | WRITTEN, semantics)
@example(["*", "*:*", "User:*"], ANY_OTHER, KIP_1042)
def test_index_of_principals_is_the_specification(texts, name, reading):
    expected = sorted({text for text in texts if principal_matches(text, name, reading)})
    assert index_principals(texts, reading).matching(name) == expected


@given(st.lists(acl_hosts | TEXTS | RANGE), hosts | TEXTS | INSIDE, semantics)
@example(["<any-other>", "<*", "*"], ANY_OTHER, KIP_1042)
def test_index_of_hosts_is_the_specification(texts, name, reading):
    expected = sorted({text for text in texts if host_matches(text, name, reading)})
    assert index_hosts(texts, reading).matching(name) == expected
