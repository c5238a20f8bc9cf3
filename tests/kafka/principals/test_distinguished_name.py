"""X.500 names after RFC 2253: what is read, and that reading and writing agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.principals.distinguished_name import (
    KEYWORDS,
    NameAttribute,
    parse_name,
    render_name,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "CN=Duke,OU=ServiceUsers,O=Org,C=US"),
        ("cn=Duke, ou = Ops , o=Org", "CN=Duke,OU=Ops,O=Org"),
        ("CN=Duke; O=Org", "CN=Duke,O=Org"),
        ("OU=Sales+CN=J. Smith,O=Widget Inc.,C=US", "OU=Sales+CN=J. Smith,O=Widget Inc.,C=US"),
        (r"CN=L. Eagle,O=Sue\, Grabbit and Runn", r"CN=L. Eagle,O=Sue\, Grabbit and Runn"),
        ('CN=L. Eagle,O="Sue, Grabbit"', r"CN=L. Eagle,O=Sue\, Grabbit"),
        (r"CN=Lu\C4\8Di\C4\87", "CN=Lučić"),
        (r"CN=\ a\ ", r"CN=\ a\ "),
        ("1.3.6.1.4.1.1466.0=#04024869", "1.3.6.1.4.1.1466.0=#04024869"),
        (r"CN=\#04", r"CN=\#04"),
        ("CN=", "CN="),
        ("emailAddress=a@b,CN=a=b", r"1.2.840.113549.1.9.1=#1603614062,CN=a\=b"),
    ],
)
def test_a_name_is_written_as_java_does(text, written):
    assert render_name(parse_name(text)) == written


@pytest.mark.parametrize(
    "text",
    ["", "alice", "CN", "CN=a,", "CN=a,,O=b", '="a"', 'CN="a', 'CN="a"b', "CN=#0", "CN=a\\",
     "1CN=a", r"CN=\FF"],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_its_place(text):
    with pytest.raises(UsageError, match=r"Invalid distinguished name .* at character"):
        parse_name(text)


@given(
    st.lists(
        st.builds(
            NameAttribute, st.sampled_from(KEYWORDS), st.text('aé,+"\\<>;#= \U0001f511', max_size=6)
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read_again(parts):
    assert list(parse_name(render_name(parts))) == parts
