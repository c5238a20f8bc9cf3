"""A report → numbers in Prometheus' text format, for node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from aclkit.audit.reports.data import COMPLETE, RunReport
from aclkit.audit.reports.words import count_severities, count_states


class Metric(NamedTuple):
    """A number: its name, what it says, and its value for each value of a further label, if any."""

    name: str
    meaning: str
    values: Mapping[str, float]
    label: str = ""
    kind: str = "gauge"


def render_prometheus(report: RunReport) -> str:
    """Return all gauges, each with HELP and TYPE and the label ``cluster``.

    ``aclkit_acl_count`` is what a broker reports as AclCount (KIP-801), as of the run.
    """
    return render_metrics(_metrics(report), report.summary.cluster_id)


def render_metrics(metrics: Iterable[Metric], cluster: str) -> str:
    """Return numbers about a cluster."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric, cluster))


def _metrics(report: RunReport) -> Iterator[Metric]:
    """Yield the gauges of a report."""
    summary = report.summary
    for name, said, value in _singles(report):
        yield Metric(name, said, {"": value})
    said = "Findings in force, but those that are muted."
    yield Metric("findings", said, count_severities(summary.findings), "severity")
    if summary.judged is not None:
        states = count_states(summary.judged)
        yield Metric("finding_states", "Findings by state.", states, "state")
    newest = report.trend[-1] if report.trend else None
    moved = {"gained": newest.gained if newest else 0, "lost": newest.lost if newest else 0}
    said = "Accesses that the run changed, per changed pair."
    yield Metric("access_moved", said, moved, "direction")
    if summary.assertions is not None:
        broken, unknown = len(summary.broken_assertions), len(summary.unknown_assertions)
        held = len(summary.assertions) - broken - unknown
        outcomes = {"holds": held, "broken": broken, "unknown": unknown}
        yield Metric("assertions", "Assertions of the team.", outcomes, "state")


def _singles(report: RunReport) -> tuple[tuple[str, str, float], ...]:
    summary = report.summary
    return (
        ("acl_count", "ACLs in force as of the run (AclCount).", summary.acls),
        ("run_seconds", "How long the run took.", summary.seconds),
        (
            "run_finished_timestamp_seconds",
            "When the run that decided ended, in seconds since 1970.",
            report.finished_at.timestamp(),
        ),
        (
            "run_age_seconds",
            "Age of that run when these numbers were written.",
            max(0.0, (report.made_at - report.finished_at).total_seconds()),
        ),
        ("run_complete", "1 if the run misses nothing, 0 otherwise.", summary.status == COMPLETE),
        ("log_head_offset", "The log has been read up to this offset.", report.log_head),
        ("decided_offset", "The decisions are as of this offset.", summary.head_offset),
        (
            "lag_offsets",
            "Offsets that have been read and not decided yet.",
            max(0, report.log_head - summary.head_offset),
        ),
    )


def _lines(metric: Metric, cluster: str) -> Iterator[str]:
    name = f"aclkit_{metric.name}"
    yield f"# HELP {name} {metric.meaning}"
    yield f"# TYPE {name} {metric.kind}"
    for text, value in metric.values.items():
        labels = {"cluster": cluster, metric.label: text} if metric.label else {"cluster": cluster}
        written = ",".join(f'{label}="{_escaped(of)}"' for label, of in labels.items())
        yield f"{name}{{{written}}} {int(value) if int(value) == value else repr(value)}"


def _escaped(text: str) -> str:
    """Escape a label's value: backslash, quote and line feed; half surrogates have no UTF-8."""
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
