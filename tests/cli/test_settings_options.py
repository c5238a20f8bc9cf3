"""The options that say how ACLs are read."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from aclkit.cli.settings_options import own_semantics, semantics_of, settings_options
from aclkit.model.semantics import KAFKA, KIP_1042


def read(*arguments):
    """Return what the options come to, and what of it was given on its own."""
    found = []

    @click.command()
    @settings_options
    def command(**chosen):
        found.append((semantics_of(chosen), own_semantics(chosen)))

    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 0, outcome.output
    return found[0]


def test_a_preset_is_as_it_was_where_nothing_is_said_of_ranges():
    assert read() == (KIP_1042, {})
    assert read("--semantics", "kafka") == (KAFKA, {})


@pytest.mark.parametrize(("said", "decides"), [("on", True), ("off", False)])
def test_that_ranges_decide_can_be_said(said, decides):
    found = read("--semantics", "kafka", "--cidr-hosts", said)
    assert found == (replace(KAFKA, cidr_hosts=decides), {"cidr_hosts": decides})


def test_auto_is_off_and_nothing_given():
    assert read("--semantics", "kafka", "--cidr-hosts", "auto") == (KAFKA, {})
