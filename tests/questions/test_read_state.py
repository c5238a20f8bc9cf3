"""A state is read in one place: of published decisions, of a moment, of files."""

from __future__ import annotations

import pytest

from aclkit.kafka.desired.read import Asked
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.read_state import Files, Warehouse, read_state, read_states
from aclkit.questions.state import LISTING, State
from tests.cli.test_diff import ADDED, REMOVED, build
from tests.questions.query import small_warehouse as small

LISTED = """Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:
\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)
"""  # noqa: E501 - a listing


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return Warehouse(str(build(tmp_path_factory.mktemp("states") / "warehouse", (0, 100))))


def test_a_moment_has_its_own_acls_and_settings_and_the_names_of_the_newest_run(warehouse):
    published, then = read_state(warehouse), read_state(warehouse, 50)
    assert {ADDED.acl_id, REMOVED.acl_id} & set(published.acls) == {ADDED.acl_id}
    assert {ADDED.acl_id, REMOVED.acl_id} & set(then.acls) == {REMOVED.acl_id}
    assert then.settings == BrokerSettings(
        super_users=frozenset({small.SUPER_USER}), allow_everyone=True
    )
    assert published.settings.super_users == frozenset()
    assert then.inventory == published.inventory
    assert (then.offset, then.cluster_id) == (50, small.CLUSTER)


def test_an_acl_of_two_moments_is_one_object(warehouse):
    then, now = read_states(warehouse, (50, 60))
    shared = set(then.acls) & set(now.acls)
    assert shared
    assert all(then.acls[name] is now.acls[name] for name in shared)


def test_who_asks_about_acls_alone_gets_no_names(warehouse):
    read = read_state(warehouse, with_names=False)
    assert read.acls == read_state(warehouse).acls
    assert read.inventory.principals == ()


def test_files_are_a_state_of_their_own_or_lead_from_another_to_one(tmp_path):
    file = tmp_path / "now.txt"
    file.write_text(LISTED, encoding="utf-8")
    whole = read_state(Files([str(file)], Asked()))
    assert (whole.form, whole.read_by, len(whole.acls)) == (LISTING, "", 1)
    onto = State(settings=BrokerSettings(allow_everyone=True)).with_only([ADDED])
    after = read_state(Files([str(file)], Asked(), onto=onto))
    assert [acl.principal for acl in after.acls.values()] == ["User:a"]
    assert after.settings == onto.settings
    assert after.as_of is None
