"""Rules of pipeline.inventory.any_other: a witness is reached only by what reaches every name."""

from __future__ import annotations

import pytest

from aclkit.model.host import canonical_host
from aclkit.pipeline.inventory.any_other import find_witness


def test_first_name_is_the_plain_one():
    assert find_witness(lambda name: True, ()) == "any-other"


def test_name_of_the_inventory_is_no_witness():
    assert find_witness(lambda name: True, {"any-other"}) == "z-any-other"


@pytest.mark.parametrize("beginnings", ["a", "az", "azqxjkvwybfghmpcunlodrtsie"])
def test_witness_avoids_prefixes(beginnings):
    witness = find_witness(lambda name: name[0] not in beginnings, ())
    assert witness is not None
    assert witness[0] not in beginnings


def test_witness_avoids_globs_of_length_and_ending():
    witness = find_witness(lambda name: len(name) == 5 and not name.endswith("r"), ())
    assert witness is not None
    assert len(witness) == 5


def test_there_may_be_no_witness():
    assert find_witness(lambda name: False, ()) is None
    assert find_witness(lambda name: False, (), as_host=True) is None


def test_same_question_has_the_same_witness():
    def is_long(name):
        return len(name) > 20

    assert find_witness(is_long, ()) == find_witness(is_long, ())


def test_host_witness_is_an_address_for_documentation_first():
    assert find_witness(lambda host: True, {"192.0.2.1"}, as_host=True) == "192.0.2.2"


@pytest.mark.parametrize("marks", ["192.0.2.", "."])
def test_host_witness_is_an_address_as_java_writes_it(marks):
    witness = find_witness(lambda host: marks not in host, (), as_host=True)
    assert witness is not None
    assert canonical_host(witness) == witness
