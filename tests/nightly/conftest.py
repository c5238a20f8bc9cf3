"""What holds for all nights of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _known_settings() -> Iterator[None]:
    """Let the brokers have no super users: unknown ones are a finding, which fails a night."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACLKIT_NO_SUPER_USERS", "1")
        patch.setenv("ACLKIT_ALLOW_EVERYONE", "0")
        yield
