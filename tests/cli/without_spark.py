"""Commands that take Spark or Kafka, with what they would find given: what they print is theirs."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from importlib import import_module
from types import SimpleNamespace

from aclkit.kafka.verify.compare import NO_WITNESS, Agreement, LeftOut, Mismatch
from aclkit.kafka.verify.wire import Reply
from aclkit.model.acl import Request
from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.resource import Resource
from aclkit.model.semantics import AskedReading, BrokerSettings
from aclkit.pipeline.replay.record import ReplayResult
from aclkit.questions.usage.check import MISMATCH, UNDETERMINED, UNREADABLE, VERDICTS
from aclkit.questions.usage.command import UsageResult
from aclkit.questions.usage.coverage import Coverage, FileCoverage
from aclkit.questions.usage.lines import EXAMPLE_COLUMNS
from aclkit.questions.usage.use import Grant
from aclkit.questions.usage.whole_log import Judgeable, Missing
from aclkit.warehouse.maintenance import Maintained
from tests.factories import acl

AT = datetime(2026, 11, 21, 10, tzinfo=UTC).replace(tzinfo=None)
HOUR = timedelta(hours=1)
RUN = SimpleNamespace(
    cluster_id="c",
    head_offset=915,
    counts={"acls": 3, "rows_expected": 10, "rows_decided": 10},
    status="complete",
    notes=["something to know"],
    findings=[],
    store=SimpleNamespace(spark=None),
    rebuilt=None,
)
ASKED = Request.of("User:a", "10.0.0.1", "READ", Resource("TOPIC", "t"))


def stand_in(monkeypatch):
    """Let replay, materialize, maintain, usage and verify find what is given here."""
    run = {"command_run": lambda *_, **__: nullcontext(RUN), "publish": _nothing}
    continued = {
        "read_clusters": lambda *_: {"c"}, "choose_cluster": lambda *_: "c",
        "continue_from_replay": _nothing,
    }  # fmt: skip
    given = {
        "replay": {
            "hold": lambda *_: nullcontext(),
            "asked": lambda intake, _: intake,
            "begin_run": lambda *_, **__: nullcontext(RUN),
            "replay_into": lambda *_: REPLAYED,
            "publish": _nothing,
        },
        "materialize": {
            **run,
            **continued,
            **dict.fromkeys(("told_by_brokers", "take_inventory", "note_readings"), _nothing),
            "find_reading_changed": lambda _: (),
            "show_openings": _nothing,
            "resolve": lambda *_: ResolvedSettings(settings=BrokerSettings()),
            "deciding_options": lambda *_: SimpleNamespace(
                reading=AskedReading(), settings=BrokerSettings()
            ),
            "materialize_into": lambda *_: DECIDED,
        },
        "maintain": {
            "command_run": run["command_run"],
            "continue_from_newest": lambda _: True,
            "maintain": lambda *_, **__: [MAINTAINED],
        },
        "usage": {**run, **continued, "check_usage": lambda *_: USED},
        "verify": {"_verify": lambda *_: AGREEMENT},
    }
    for name, parts in given.items():
        module = import_module(f"aclkit.cli.{name}")
        for part, what in parts.items():
            monkeypatch.setattr(module, part, what)


def _nothing(*_):
    return None


REPLAYED = ReplayResult(
    head_offset=915, holes=((10, 20),), bridged=(), alive=3, facts=4, rejects=0, exit_code=3
)
DECIDED = SimpleNamespace(
    inventory=SimpleNamespace(principals=[1], hosts=[1, 2], resources=[]),
    scope=SimpleNamespace(semantics=None),
    output=SimpleNamespace(forget=_nothing),
)
MAINTAINED = Maintained(
    table="acl_log", rows_removed=0, files_before=9, files_after=1, size_bytes=77,
    oldest_version=None,
)  # fmt: skip
AGREEMENT = Agreement(
    asked=7,
    mismatches=[
        Mismatch(ASKED, ASKED, Reply("ALLOWED", "MatchingAcl", acl("t")), Reply(None, "it threw"))
    ],
    left_out=[LeftOut(ASKED, NO_WITNESS)],
)
_LINE = dict.fromkeys(EXAMPLE_COLUMNS) | {
    "source": "kafka-authorizer.log", "position": 1, "first_at": AT, "last_at": AT, "lines": 1
}  # fmt: skip
USED = UsageResult(
    counts=dict.fromkeys(VERDICTS, 1),
    examples={
        verdict: [_LINE | {"verdict": verdict}] for verdict in (MISMATCH, UNDETERMINED, UNREADABLE)
    },
    coverage=Coverage(
        files=(FileCoverage(source="a", lines=2, allowed_lines=1, first=AT, last=AT + HOUR),),
        allowed_from=AT,
        gaps=((AT, AT + HOUR),),
    ),
    log=Judgeable(
        window_from=AT, window_to=AT, missing=(Missing("days", "Too short.", "wait"),),
        controllers=Missing("controllers", "No log of a controller.", "read it"), covered=0.5,
    ),
    grants=[
        Grant(
            acl=acl("t"), usage="unused", last_used_at=None, last_matched_at=AT, used_lines=0,
            added_at=AT, window_from=AT, window_to=AT, covered=0.5,
        )
    ],
)  # fmt: skip
