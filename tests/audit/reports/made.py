"""Reports made by hand, for tests of what is rendered from them."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from aclkit.audit.reports.data import (
    AliveAcl,
    AssertionOutcome,
    Cause,
    Explorer,
    HeatMap,
    NightlySummary,
    NumberedRuling,
    ReportedChange,
    ReportedPrincipal,
    RunReport,
    TrendPoint,
)
from aclkit.audit.reports.gather import gather, read_summary
from aclkit.model.acl import ANY_OTHER
from aclkit.model.findings import SEVERITIES, Finding
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.decide.rules import DEFAULT_DENY, MATCHING_ACL
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, deciding_run, resolve_cluster
from tests.factories import acl

WHEN = datetime(2026, 11, 21, 2, 0, 3, tzinfo=UTC)
IMAGE = "<img src=x onerror=alert(1)>"
HOSTILE = f'{IMAGE}</script><script>alert(2)</script>]]>&amp;"\u2028\u202e\x1b[31m'
"""A name that would run, end a block or turn the writing around, where it were not kept text."""

SUMMARY = NightlySummary(
    cluster_id="kraft-4.1",
    run_id="0123456789abcdef",
    started_at=WHEN,
    seconds=75.25,
    status="complete",
    head_offset=915,
    acls=1234,
    principals=56,
    hosts=7,
    resources=89,
    rows_expected=278_656,
    rows_decided=278_656,
    notes=("high watermark not given",),
    findings=(),
    changes=(),
    access_changes=0,
    exit_code=None,
)


def gathered(published: Published, cluster_id: str | None = None, **summary: Any) -> RunReport:
    """Return the whole report of a warehouse; other fields are those of its summary."""
    with closing(connect(published)) as connection:
        run = deciding_run(published, resolve_cluster(published, cluster_id))
        told = replace(read_summary(connection, run), **summary)
        return gather(connection, published, told)


def finding(number: int = 0, kind: str = "public-access", **fields) -> Finding:
    defaults = {
        "finding": kind, "severity": "high", "subject": f"topic:t{number}",
        "message": "Everyone has READ.", "fix": "Name who needs it.", "acl_ids": ("id-1",),
        "evidence": ("User:any-other is ALLOWED",),
    }  # fmt: skip
    return Finding(**(defaults | fields))


def report(*findings: Finding, explorer: Explorer | None = None, **fields) -> RunReport:
    """Make a report of findings; other fields are those of the summary."""
    return RunReport(
        summary=replace(SUMMARY, findings=findings, **fields),
        version="0.1.0",
        made_at=WHEN + timedelta(seconds=100),
        finished_at=WHEN + timedelta(seconds=75.25),
        log_head=920,
        kinds=("public-access", "redundant-acl"),
        acls={"id-1": AliveAcl(acl=acl(acl_id="id-1"), added_offset=7, added_at=WHEN)},
        trend=tuple(map(point, range(3))),
        principals=(principal(f"User:{HOSTILE}", denies=2), principal("User:0000", is_super=True)),
        heat=HEAT,
        explorer=explorer,
    )


def principal(name: str, **fields) -> ReportedPrincipal:
    defaults = {
        "is_super": False, "administers": 3, "writes": 2, "reads": 1234, "denies": 0,
        "findings": 1, "changed_at": WHEN,
    }  # fmt: skip
    return ReportedPrincipal(name=name, **(defaults | fields))


def point(number: int) -> TrendPoint:
    return TrendPoint(
        run_number=number,
        started_at=WHEN - timedelta(days=3 - number),
        seconds=60.0 + number,
        status="complete",
        acls=1200 + number,
        findings=dict.fromkeys(SEVERITIES, number),
        gained=4,
        lost=1,
    )


HEAT = HeatMap(
    prefixes=(("a.", 2), (HOSTILE, 1)),
    principals=("User:0000", f"User:{HOSTILE}"),
    allowed={"administer": ((8, 0), (0, 4)), "write": ((2, 0), (0, 1)), "read": ((6, 0), (1, 3))},
    possible={"administer": (8, 4), "write": (2, 1), "read": (6, 3)},
    more_prefixes=0,
    more_principals=3,
)
CHANGE = ReportedChange(
    who=f"User:{HOSTILE}", resource="topic:orders", gained=12, lost=1, cause="acl",
    cause_offsets=(901,),
    causes=(Cause(offset=901, at=WHEN, what="added", acl=acl(principal=f"User:{HOSTILE}")),),
)  # fmt: skip
BROKEN = AssertionOutcome(
    name=HOSTILE, passed=False, severity="medium", message=f"{HOSTILE} may WRITE", example=HOSTILE
)
UNPROVEN = AssertionOutcome(
    name="no strangers", passed=False, severity="high", message="for all possible names: unknown",
    state="unknown",
)  # fmt: skip
KEPT = AssertionOutcome(name="no guests", passed=True, severity="high", message="It holds.")


def hostile() -> RunReport:
    """A report in which every name is hostile."""
    bad = dict.fromkeys(("finding", "subject", "message", "fix"), HOSTILE)
    return report(
        finding(evidence=(HOSTILE,), **bad),
        cluster_id=HOSTILE, notes=(HOSTILE,), run_id=HOSTILE, changes=(CHANGE,),
        access_changes=1, assertions=(BROKEN, KEPT), explorer=explorer(3, 2),
    )  # fmt: skip


def explorer(principals: int, resources: int, rulesets: int = 8) -> Explorer:
    """Make decisions on topics; the last principal and topic have a hostile name.

    Each principal is ALLOWED to READ, by an ACL of its own ruleset, but from host 10.0.0.1.
    """
    topic = OPERATIONS_OF_TYPE["TOPIC"]
    names = [f"User:{number:04}" for number in range(principals - 1)] + [f"User:{HOSTILE}"]
    topics = [f"a.{number:04}" for number in range(resources - 1)] + [HOSTILE]
    acls = tuple(
        AliveAcl(
            acl=acl("a.", pattern_type="PREFIXED", principal=f"User:{n}", acl_id=f"id-{n}"),
            added_offset=n,
            added_at=WHEN,
        )
        for n in range(rulesets)
    )
    return Explorer(
        principals=tuple((name, 0, False) for name in names),
        hosts=("10.0.0.1", "10.0.0.2"),
        resources=tuple(("TOPIC", name) for name in topics),
        operations=OPERATIONS_OF_TYPE,
        acls=acls,
        rulesets=tuple((n,) for n in range(rulesets)),
        rulings=tuple(
            tuple(
                (operation, host, operation == "READ" and host < 0, *_by(operation, n))
                for operation in topic
                for host in (-1, 0)
            )
            for n in range(rulesets)
        ),
        super_ruleset=-1,
        classes=(tuple(0 for _ in topics),),
        pairs=tuple(
            (p, r, (p + r) % rulesets) for p in range(principals) for r in range(resources)
        ),
        rules=(DEFAULT_DENY, MATCHING_ACL),
    )


def estate(principals: int, resources: int, *, every_pair: bool = False) -> Explorer:
    """Make a company: teams with topics and services, and ACLs of each service's own.

    A service reads and writes the topics of its team and reads three others, one from one host;
    everyone may DESCRIBE_CONFIGS. With ``every_pair`` no pair is left to a class: the widest page.
    """
    teams = 30
    names = sorted({f"User:svc-{n % teams:02}-worker-{n:05}" for n in range(principals - 1)})
    people = (f"User:{ANY_OTHER}", *names)
    topics = tuple(f"team-{n % teams:02}.stream-{n // teams:04}.v1" for n in range(resources))
    team_of = [n % teams for n in range(resources)]
    acls = [_alive(acl("*", operation="DESCRIBE_CONFIGS", acl_id=_id(0)), 0)]
    rulesets: list[tuple[int, ...]] = [(0,)]
    rulings = [_ruled({})]
    pairs = []
    for p, who in enumerate(people[1:], 1):
        team = int(who.split("-")[1])
        first = len(acls)
        prefix = {"pattern_type": "PREFIXED", "principal": who}
        for operation in ("READ", "WRITE"):
            alive = acl(f"team-{team:02}.", operation=operation, acl_id=_id(len(acls)), **prefix)
            acls.append(_alive(alive, len(acls)))
        own = len(rulesets)
        rulesets.append((0, first, first + 1))
        rulings.append(_ruled({"READ": first, "DESCRIBE": first, "WRITE": first + 1}))
        others = {}
        for r in sorted({(p * k) % resources for k in (7, 11, 13)}):
            others[r] = len(rulesets)
            rulesets.append((0, len(acls)))
            rulings.append(_ruled({"READ": len(acls), "DESCRIBE": len(acls)}, host=r % 3 == 0))
            acls.append(_alive(acl(topics[r], principal=who, acl_id=_id(len(acls))), len(acls)))
        for r in range(resources):
            ruleset = own if team_of[r] == team else others.get(r, own if every_pair else 0)
            if ruleset:
                pairs.append((p, r, ruleset))
    return Explorer(
        principals=tuple((name, 0, False) for name in people),
        hosts=tuple(f"10.0.0.{n}" for n in range(20)),
        resources=tuple(("TOPIC", name) for name in topics),
        operations=OPERATIONS_OF_TYPE,
        acls=tuple(acls),
        rulesets=tuple(rulesets),
        rulings=tuple(rulings),
        super_ruleset=-1,
        classes=((0,) * resources,),
        pairs=tuple(pairs),
        rules=(DEFAULT_DENY, MATCHING_ACL),
    )


def _id(number: int) -> str:
    """An id as long as Kafka's are."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:22]


def _alive(made, number: int) -> AliveAcl:
    return AliveAcl(acl=made, added_offset=number, added_at=WHEN + timedelta(seconds=number))


def _ruled(granted: dict[str, int], *, host: bool = False) -> tuple[Any, ...]:
    """Rule on the operations of a topic; with ``host`` grants hold from the first host only."""
    granted = {**granted, "DESCRIBE_CONFIGS": 0}
    ruled: list[NumberedRuling] = []
    for operation in OPERATIONS_OF_TYPE["TOPIC"]:
        said = (True, 1, granted[operation]) if operation in granted else (False, 0, -1)
        rest = (False, 0, -1) if host and operation != "DESCRIBE_CONFIGS" else said
        ruled.append((operation, -1, *rest))
        if host:
            ruled.append((operation, 0, *said))
    return tuple(ruled)


def _by(operation: str, number: int) -> tuple[int, int]:
    return (1, number) if operation == "READ" else (0, -1)
