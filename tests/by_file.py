"""Tests of a group, and tests of a file, are run by one worker: how xdist hands them out here."""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling


class GroupsAndFiles(LoadGroupScheduling):
    """Groups as ``--dist loadgroup`` has them; what is in none goes with its file."""

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if scope == nodeid else scope
