"""What the tests of conf/ci share."""

from __future__ import annotations

import pytest

from tests.ci.gate_place import Gate


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)
