"""The texts of Kafka's own tools, held against what these tools printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.kafka.acls.text import render_added, render_list, render_removed, render_tree
from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL, REMOVE_ACL
from aclkit.pipeline.sources.segment import read_segment
from tests.factories import acl

DATA = Path(__file__).parents[2] / "data"
LOG = DATA / "kraft-4.1" / "__cluster_metadata-0" / "00000000000000000000.log"
LISTED = DATA / "kraft-4.1-text" / "kafka-acls-list.txt"
BASIC_TREE = """\
byId:
  EjRWeJCrze8AAAAAAAAAAQ:
    StandardAcl[resourceType=TOPIC, resourceName=orders, patternType=LITERAL, \
principal=User:alice, host=*, operation=READ, permissionType=ALLOW]
  EjRWeJCrze8AAAAAAAAAAg:
    StandardAcl[resourceType=TOPIC, resourceName=orders-, patternType=PREFIXED, \
principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY]
  EjRWeJCrze8AAAAAAAAAAw:
    StandardAcl[resourceType=CLUSTER, resourceName=kafka-cluster, patternType=LITERAL, \
principal=User:*, host=*, operation=CLUSTER_ACTION, permissionType=ALLOW]
"""
"""What the metadata shell printed of synthetic-4.2/basic."""


def alive(path: Path) -> list[Acl]:
    """Replay a segment without transactions."""
    acls: dict[str | None, Acl] = {}
    for row in read_segment(path.read_bytes(), path.name):
        if row.record_type == ADD_ACL:
            acls[row.acl_id] = Acl(**{name: getattr(row, name) for name in Acl.__slots__})
        elif row.record_type == REMOVE_ACL:
            del acls[row.acl_id]
    return list(acls.values())


def sorted_list(text: str) -> list[list[str]]:
    """Sort the groups of a list, and the entries of each."""
    groups = [group.split("\n") for group in text.removesuffix("\n\n").split("\n\n")]
    return sorted([head, *sorted(entries)] for head, *entries in groups)


def lines(rendered) -> str:
    return "".join(f"{line}\n" for line in rendered)


def test_list_prints_what_kafka_acls_printed_byte_by_byte_once_sorted():
    wanted = LISTED.read_text(encoding="utf-8")
    assert sorted_list(lines(render_list(alive(LOG)))) == sorted_list(wanted)
    assert len(lines(render_list(alive(LOG)))) == len(wanted)


def test_tree_prints_what_the_metadata_shell_printed():
    log = DATA / "synthetic-4.2" / "basic" / "00000000000000000000.log"
    assert lines(render_tree(alive(log))) == BASIC_TREE


def test_nothing_is_printed_where_there_is_no_acl():
    assert lines(render_list([])) == ""


def test_an_acl_that_is_there_twice_is_listed_once():
    assert len(list(render_list([acl(acl_id="1"), acl(acl_id="2")]))) == 3


def test_each_principal_has_its_own_groups_and_no_wildcards():
    acls = [acl(principal="User:a"), acl(principal="User:*"), acl("x", principal="User:b")]
    assert lines(render_list(acls, ["User:b", "User:z", "User:a"])) == (
        "ACLs for principal `User:b`\n"
        "Current ACLs for resource "
        "`ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL)`:\n"
        "\t(principal=User:b, host=*, operation=READ, permissionType=ALLOW)\n"
        "\n"
        "ACLs for principal `User:z`\n"
        "ACLs for principal `User:a`\n"
        "Current ACLs for resource "
        "`ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:\n"
        "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n"
        "\n"
    )


def test_added_acls_are_printed_as_kafka_acls_does():
    acls = [acl(operation="WRITE"), acl(operation="READ")]
    assert lines(render_added(acls)) == (
        "Adding ACLs for resource "
        "`ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`: \n"
        " \t(principal=User:a, host=*, operation=WRITE, permissionType=ALLOW)\n"
        "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n"
        "\n"
    )


@pytest.mark.parametrize("render", [render_list, render_removed])
def test_groups_and_entries_are_sorted(render):
    acls = [acl("b"), acl("a", operation="WRITE"), acl("a", operation="READ")]
    assert list(render(acls)) == list(render(reversed(acls)))
