"""What two readings of ACLs can make a difference for, before anything is decided."""

from __future__ import annotations

from aclkit.audit.findings.differences import Suspects
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Inventory
from aclkit.rules.patterns import identity
from aclkit.rules.patterns.match import principal_matches
from tests.factories import acl


def inventory(principals=("User:a", "User:b"), topics=("pay", "p?y", "p*")):
    return Inventory(
        principals=tuple(Entry(name=name, origin=FILE) for name in principals),
        hosts=(),
        resources=tuple(Entry(name=n, resource_type="TOPIC", origin=FILE) for n in topics),
        notes=(),
    )


def touched(*acls, allow_everyone=False, **asked):
    suspects = Suspects.of(acls, KIP_1042, KAFKA)
    found = suspects.affected(inventory(**asked), allow_everyone=allow_everyone)
    return [e.name for e in found.principals], [e.name for e in found.resources]


def glob(name, **fields):
    return acl(name, pattern_type="GLOB", **fields)


def test_a_pattern_affects_what_it_reaches_in_one_reading_alone():
    assert touched(glob("p?y")) == (["User:a"], ["pay"])


def test_a_principal_that_is_a_glob_affects_whom_it_names_in_either_reading():
    found = touched(acl("pay", principal="User:?"), principals=("User:a", "User:?", "User:ab"))
    assert found == (["User:a", "User:?"], ["pay"])


def test_a_first_acl_on_a_resource_affects_everybody_where_everyone_is_allowed():
    assert touched(glob("p?y"), allow_everyone=True) == (["User:a", "User:b"], ["pay"])


def test_an_acl_read_differently_by_identity_alone_affects_nobody_else():
    found = touched(acl("pay", principal="User:a", host="10.*"), allow_everyone=True)
    assert found == (["User:a"], ["pay"])


def test_acls_that_reach_a_resource_in_one_reading_alone_are_named():
    one, two = glob("p?y"), glob("pay*")
    suspects = Suspects.of([one, two], KIP_1042, KAFKA)
    assert suspects.reaching_in_one_reading("TOPIC", "pay") == {one.acl_id, two.acl_id}
    assert suspects.reaching_in_one_reading("TOPIC", "p?y") == set()


def test_many_suspects_and_principals_are_not_compared_pair_by_pair(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return principal_matches(*arguments)

    monkeypatch.setattr(identity, "principal_matches", counted)
    acls = [glob(f"*{n:04}?", principal=f"User:u{n:04}*") for n in range(400)]
    names = [f"User:u{n:04}x" for n in range(400)]
    topics = [f"t{n:04}x" for n in range(400)]
    assert touched(*acls, principals=names, topics=topics) == (names, topics)
    assert 0 < len(calls) < 5 * len(names)
