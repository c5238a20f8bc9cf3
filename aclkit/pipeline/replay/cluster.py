"""A source × what the warehouse holds → the cluster that it is about, or a refusal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from aclkit.errors import DataError, UsageError
from aclkit.model.facts import LISTING
from aclkit.pipeline.replay.intake import Intake, has_acl
from aclkit.pipeline.replay.ranges import is_written_here
from aclkit.pipeline.replay.spans import Range
from aclkit.warehouse.run import parse_cluster_id


def resolve_cluster(known: Collection[str], intake: Intake, given: str | None) -> str:
    """Return which cluster a source is about.

    ``--cluster``, else the cluster that the source itself names, else the warehouse's only cluster,
    else ``default``.

    Args:
        known: the clusters that the warehouse holds.
        intake: the source.
        given: the value of ``--cluster``.

    Raises:
        DataError: the source belongs to another cluster than the one given or known.
    """
    held = ", ".join(sorted(known))
    own = next(iter(intake.cluster_ids), None)
    if given is not None:
        if own is not None and own != given:
            raise DataError(f"--cluster is {given!r}, but the source belongs to cluster {own!r}")
        return parse_cluster_id(given)
    if own is None:
        if len(known) > 1:
            raise UsageError(f"The warehouse has several clusters. Pass one: --cluster {held}")
        return next(iter(known), "default")
    if known and own not in known:
        raise DataError(
            f"The source belongs to cluster {own!r}, but the warehouse has {held}. To add it "
            f"as another cluster, pass --cluster {own}"
        )
    return parse_cluster_id(own)


def require_same_kind(
    cluster_id: str,
    known: Sequence[Range],
    intake: Intake,
    count_written: Callable[[], int],
    *,
    is_forgetting: bool,
) -> None:
    """Refuse a source of another kind than those that a cluster follows, or where it follows none.

    Args:
        cluster_id: the cluster.
        known: what was read of it.
        intake: the source; without one something is taken back only.
        count_written: counts the records that aclkit itself wrote.
        is_forgetting: something is taken back before it.

    Raises:
        DataError: the source is of another kind than those before.
        UsageError: what was written here would be taken back, or a listing is to follow at once.
    """
    if known and is_written_here(known, count_written):
        said = f"Cluster {cluster_id!r} was written with acls add"
        if not intake.sources:
            raise UsageError(f"{said}. To remove these ACLs: aclkit acls remove")
        raise DataError(f"{said} and has no source. Pass another --cluster for this source.")
    follows = {r.fact == LISTING for r in known}
    if follows and intake.sources and intake.is_listing not in follows:
        now, then = ("a listing", "a log") if intake.is_listing else ("a log", "listings")
        raise DataError(
            f"Cluster {cluster_id!r} has followed {then} since its first replay, but this "
            f"source is {now}. Pass another --cluster."
        )
    if is_forgetting and intake.is_listing:
        raise UsageError(
            "A listing is compared with the previous state. First run --forget without a source."
        )


def require_not_empty(cluster_id: str, intake: Intake, alive: Collection[str]) -> None:
    """Refuse a listing without ACLs that would take every ACL away.

    Raises:
        DataError: it has none, and there were some before.
    """
    if alive and intake.listing and not intake.allow_empty and not has_acl(intake.listing):
        raise DataError(
            f"{intake.sources[0].path} lists no ACLs, but cluster {cluster_id!r} had some "
            "before. If they are really gone, pass --allow-empty."
        )
