"""Small worlds in which patterns, principals, hosts and names meet often."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from tests.factories import acl, request

BEYOND_BMP = "\U0001f511"
ALPHABET = f"ab*?{BEYOND_BMP}"
PATTERN_TYPES = ("LITERAL", "PREFIXED", "GLOB", "UNKNOWN(9)")
SEMANTICS = (
    KIP_1042,
    KAFKA,
    replace(KIP_1042, glob_patterns=False),
    replace(KIP_1042, identity_globs=False),
    replace(KIP_1042, deciding_acl=BROKER),
    replace(KIP_1042, wildcard_defect=True),
    replace(KIP_1042, cidr_hosts=True),
    replace(KAFKA, cidr_hosts=True),
)
"""Both presets, and each setting alone; ranges beside globs and without."""

OTHER_GROUP = f"Group:{ANY_OTHER}"
"""A symbol too: any other principal of another type."""

semantics = st.sampled_from(SEMANTICS)
pattern_types = st.sampled_from(PATTERN_TYPES)
texts = st.text(ALPHABET, max_size=7)
names = texts | st.just(ANY_OTHER)
patterns = st.tuples(pattern_types, texts)
operations = st.sampled_from(("READ", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS", "ALL"))
acl_principals = st.sampled_from(
    (
        "User:a",
        "User:b",
        "User:*",
        "User:a*",
        "User:?",
        "U*:a",
        ":a",
        "User:",
        "*:*",
        "a",
        "Group:a",
        ANY_OTHER_PRINCIPAL,
        OTHER_GROUP,
    )
)
RANGES = ("10.0.0.0/8", "10.9.9.9/08", "10.0.0.0/31", "0.0.0.0/0", "::/0", "10.0.0.0/33", "10.*/8")
acl_hosts = st.sampled_from(
    ("*", "10.0.0.1", "10.0.0.2", "10.*", "10.0.0.?", "", "**", ANY_OTHER, *RANGES)
)
principals = st.sampled_from(
    ("User:a", "User:b", "User:ab", "Group:a", ":a", ANY_OTHER_PRINCIPAL, OTHER_GROUP)
)
ATOMS = ("<any-other in 10.0.0.0/8>", "<any-other in 0.0.0.0/0>")
real_hosts = st.sampled_from(
    ("10.0.0.1", "10.0.0.2", "10.9.9.9", "0.0.0.0", "0:0:0:0:0:0:0:1", ANY_OTHER)
)
hosts = real_hosts | st.sampled_from(ATOMS)
resource_types = st.sampled_from(("TOPIC", "GROUP"))


def acls() -> st.SearchStrategy[Acl]:
    """One ACL, with globs in resource, principal and host."""
    return st.builds(
        acl,
        st.text("ab*?", max_size=3) | st.just(ANY_OTHER),
        resource_type=resource_types,
        pattern_type=pattern_types,
        principal=acl_principals,
        host=acl_hosts,
        operation=operations,
        permission_type=st.sampled_from(("ALLOW", "ALLOW", "DENY", "UNKNOWN(7)")),
    )


def acl_sets(max_size: int = 12) -> st.SearchStrategy[list[Acl]]:
    """The ACLs of a small cluster, each with an id of its own."""
    return st.lists(acls(), max_size=max_size)


def requests(hosts: st.SearchStrategy[str] = real_hosts) -> st.SearchStrategy[Request]:
    """One request."""
    return st.builds(
        request,
        st.text("ab*?", max_size=3) | st.just(ANY_OTHER),
        resource_type=resource_types,
        principal=principals,
        host=hosts,
        operation=operations,
    )
