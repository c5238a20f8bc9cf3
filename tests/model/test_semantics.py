"""Settings under which ACLs are read."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.semantics import KAFKA, PRESETS, resolve_cidr_hosts


def test_ranges_decide_where_that_is_given_and_nowhere_else():
    assert resolve_cidr_hosts("on")
    for given in ("off", "auto", None):
        assert not resolve_cidr_hosts(given)
        assert not resolve_cidr_hosts(given, brokers=[33, 33])
    assert not any(preset.cidr_hosts for preset in PRESETS.values())


def test_settings_are_said_as_of_old_where_ranges_do_not_decide():
    assert list(KAFKA.said()) == [
        "glob_patterns",
        "identity_globs",
        "deciding_acl",
        "wildcard_defect",
    ]
    assert replace(KAFKA, cidr_hosts=True).said() == {**KAFKA.said(), "cidr_hosts": True}
