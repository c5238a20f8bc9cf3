"""A served warehouse: that of the questions' tests, with a finding, and a hostile ACL and name."""

from __future__ import annotations

import pytest

from tests.audit.reports.made import HOSTILE
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small

SQL = "x'); DROP TABLE principal; --"
ACLS = (
    *small.ACLS,
    small.acl(11, principal=f"User:{HOSTILE}", operation="WRITE", resource_name=HOSTILE),
    small.acl(12, resource_name="*", principal=f"User:{HOSTILE}", operation="WRITE"),
)


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "warehouse"
    # The hostile principal, and a topic that a SELECT would end at.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(small, "PRINCIPALS", (*small.PRINCIPALS, f"User:{HOSTILE}"))
        patched.setattr(small, "RESOURCES", (*small.RESOURCES, ("TOPIC", SQL), ("TOPIC", HOSTILE)))
        small.build(path, ACLS)
    return path


@pytest.fixture(scope="session")
def stranger(warehouse):
    """Whoever reaches the port: another local user, a page of another site, a mistake."""
    with serving(warehouse) as client:
        yield client


@pytest.fixture(scope="session")
def client(stranger):
    return stranger.enter()
