"""The contract: every Delta table's key and columns, without Spark.

Types are Spark SQL's; times are UTC; keys start with ``cluster_id``. No column is a reserved
word of Spark SQL or DuckDB.
"""

from __future__ import annotations

import re
from typing import Final

from aclkit.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """One Delta table under the warehouse.

    Attributes:
        name: folder name and the name in SQL.
        comment: one row per what.
        columns: (name, Spark type, meaning), in order.
        required: the columns that hold no null: NOT NULL of a table that is made now.
    """

    name: str
    comment: str
    columns: tuple[tuple[str, str, str], ...]
    required: frozenset[str] = frozenset()

    @property
    def description(self) -> str:
        """What one row is, as every engine shows it of a table."""
        return f"one row per {self.comment}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(name for name, _, _ in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark DDL."""
        return ", ".join(f"{name} {kind}" for name, kind, _ in self.columns)


def _table_of(text: str) -> Table:
    r"""Read a table: its name and what a row is, then in each line a column, its type and meaning.

    The first column is the cluster, unless it has another place. A type with ``!`` is NOT NULL.

    >>> table = _table_of("log_range: offsets\n  fact STRING! what\n  epoch INT leader epoch")
    >>> table.column_names, sorted(table.required)
    (('cluster_id', 'fact', 'epoch'), ['cluster_id', 'fact'])
    """
    head, *lines = filter(None, text.splitlines())
    if _CLUSTER not in lines:
        lines.insert(0, _CLUSTER)
    name, comment = head.split(": ", 1)
    said = [line.split(maxsplit=2) for line in lines]
    columns = tuple((column, kind.removesuffix("!"), meaning) for column, kind, meaning in said)
    required = frozenset(column for column, kind, _ in said if kind.endswith("!"))
    return Table(name, comment, columns, required)


def _never_null(columns: str) -> str:
    """Return the lines of columns with each of them NOT NULL."""
    return re.sub(r"^(  \w+ [^ !]+) ", r"\1! ", columns, flags=re.MULTILINE)


_CLUSTER: Final = "  cluster_id STRING! the cluster that the row is about"
_RUN: Final = "  run_id STRING! the run that wrote the row\n"
_RESOURCE: Final = """\
  resource_type STRING TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER
  resource_name STRING the resource's name
"""
_PATTERN: Final = """\
  resource_type STRING Kafka's ResourceType
  resource_name STRING name or pattern
  pattern_type STRING LITERAL, PREFIXED, GLOB or UNKNOWN(code)
"""
_ACL: Final = f"""\
  acl_id STRING the ACL's Uuid
{_PATTERN}
  principal STRING as written in the ACL
  host STRING as written in the ACL
  operation STRING Kafka's AclOperation
  permission_type STRING ALLOW or DENY
"""
_ASKED_HOST: Final = (
    "  host STRING address as Java writes it, <any-other>, or <any-other in RANGE>\n"
)
_PRINCIPAL_PARTS: Final = """\
  principal_type STRING text before the first colon
  principal_name STRING text after it
"""
_DECIDED: Final = """\
  decision STRING ALLOWED or DENIED
  rule STRING SuperUser, MatchingAcl, DefaultAllow or DefaultDeny
"""
_DECIDER: Final = "  deciding_acl_id STRING the ACL that decided; null without one\n"
_WITNESS: Final = """\
  is_any_other BOOLEAN! the row for every name that no ACL and no source contains
  origin STRING log, acl, file, setting or always
  witness STRING a concrete name that the any-other row stands for
  attributes MAP<STRING,STRING> further columns of the user's inventory
"""

_CONTRACT: Final = f"""\
acl_log: fact: a record of the log, an entry of a snapshot, a change between two listings
  fact STRING! record, snapshot, listing, or overwritten: a record that is not in the log
  log_offset BIGINT! offset; of a snapshot its end offset
  record_type STRING Kafka's record type, or LISTED_RESOURCE of a live cluster
{_ACL}
  topic_id STRING Uuid of a topic record
  mechanism STRING SCRAM mechanism, or DELEGATION_TOKEN
  epoch INT leader epoch; null where the source has none
  log_time TIMESTAMP the record's timestamp
  txn_offset BIGINT offset of the transaction's Begin
  source STRING where the row was read
  broker_id INT broker that is registered or unregistered
  min_level INT lowest metadata.version that the broker supports
  max_level INT highest one; of FEATURE_LEVEL_RECORD the one in force
log_range: range of offsets that has been read
  from_offset BIGINT! first offset
  to_offset BIGINT! offset after the last
  epoch INT leader epoch
  fact STRING! record, snapshot, listing, unreadable; committed, or epoch: where one begins
  follows INT leader epoch before the beginning of an epoch; -1 for none
acl_reject: row that could not be used
  stage STRING! source (could not be read) or replay (contradicts other rows)
  source STRING where the row was read
  position BIGINT byte or 1-based line in the source
  log_offset BIGINT offset, where known
  reason STRING! what was expected and what was found
  raw STRING the row, credentials masked
  digest STRING sha-256 of the row's bytes
acl_history: ACL lifetime
{_never_null(_ACL)}
  added_offset BIGINT! offset of the record that added it
  effective_offset BIGINT! offset where it took effect
  added_at TIMESTAMP time of the record that added it
  added_by STRING! record, snapshot (true start unknown) or listing
  removed_offset BIGINT offset where its removal took effect; null = alive
  removed_at TIMESTAMP time of the removal; null = alive
resource_lifetime: lifetime of a topic; of a live cluster also of groups, transactional ids \
and tokens
{_never_null(_RESOURCE)}
  topic_id STRING the topic's Uuid; made from its name where the source has none
  first_offset BIGINT! offset where it came
  last_offset BIGINT offset where it went; null = alive
principal_lifetime: lifetime of a SCRAM user's credential, or of an owner of delegation tokens
  principal STRING! User:name
  mechanism STRING! SCRAM mechanism, or DELEGATION_TOKEN
  first_offset BIGINT! offset where it came
  last_offset BIGINT offset where it went; null = alive
broker: broker that the log registers or a live cluster lists; none as of kafka-acls --list
  broker_id INT! the broker's number
  is_registered BOOLEAN! false once it is unregistered; fenced ones are true
  min_level INT lowest metadata.version that its binary supports
  max_level INT highest one; from 32 on ranges (CIDR) in hosts decide there; -1 unknown
  since_offset BIGINT offset from which on this is so
  since_time TIMESTAMP time of that record
  finalized_level INT metadata.version in force in the cluster
  finalized_offset BIGINT offset from which on it is
principal: principal asked about
  principal STRING! type:name
{_PRINCIPAL_PARTS}
  principal_class STRING! principals that the same non-exact ACLs reach
  is_super_user BOOLEAN! in super.users
{_WITNESS}
host: host asked about
{_never_null(_ASKED_HOST)}
  is_named BOOLEAN! some ACL names it, alone or by a glob
{_WITNESS}
resource: resource asked about
{_never_null(_RESOURCE)}{_WITNESS}
ruleset_group: set of ACLs with one pattern and one principal
  group_id STRING! hash of the content
{_never_null(_PATTERN)}
  principal STRING! as written in the ACLs
  acl_ids ARRAY<STRING>! the ACLs
ruleset: set of groups that apply to a (principal, resource), hosts and operations aside
  ruleset_id STRING! hash of the content, or super, none:TYPE, other:TYPE
  resource_type STRING Kafka's ResourceType; null for super
  group_ids ARRAY<STRING>! the groups, sorted
  wildcard_last STRING deny, all: where the broker meets LITERAL * last (names below *)
host_match: (host text of an ACL, host asked about) that match
  acl_host STRING! as written in the ACL
{_never_null(_ASKED_HOST)}
explain_pair: (principal, resource) that an ACL naming exactly this principal reaches
  principal STRING! type:name
{_never_null(_RESOURCE)}
  ruleset_id STRING! the ruleset that decides
explain_class_pair: (principal class, resource): stands for all pairs without an own ACL
  principal_class STRING! see principal
{_never_null(_RESOURCE)}
  ruleset_id STRING! the ruleset that decides
explain_ruling: (ruleset, host, operation); <any-other> answers for every host without a row
  ruleset_id STRING! see ruleset
  host STRING! a host that some ACL of the ruleset names, or <any-other>
  operation STRING! Kafka's AclOperation
{_never_null(_DECIDED)}{_DECIDER}
explain: (principal, host, operation, resource)
  principal STRING! type:name
{_never_null(_ASKED_HOST)}
  operation STRING! Kafka's AclOperation
{_never_null(_RESOURCE)}{_PRINCIPAL_PARTS}{_DECIDED}{_DECIDER}
access_change: (principal or principal class, resource) whose ruleset changed in a run, if the \
previous run knew both too; and per principal, host or resource that only one run knew
{_RUN}
  principal STRING type:name; null where a class changed
  principal_class STRING class; null where a principal changed
  resource_type STRING TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER; \
HOST for a host that came or left
  resource_name STRING the resource's name; null where a principal came or left
  ruleset_before STRING ruleset before the run; null for a name that came
  ruleset_after STRING ruleset after it; null for a name that left
  cause STRING! acl, settings or inventory
  cause_offsets ARRAY<BIGINT> log offsets of the ACL records that caused the change
  gained BIGINT hosts × operations that became ALLOWED, per principal
  lost BIGINT hosts × operations that became DENIED, per principal
finding: finding of a run
{_RUN}
  finding STRING! which finding
  severity STRING! high, medium, low or info
  subject STRING! what it is about
  message STRING! one plain sentence
  fix STRING what to do about it
  acl_ids ARRAY<STRING> the ACLs that the finding is about
  fingerprint STRING! the same finding has the same one in every run
  holds_for STRING every-name, or inventory: the names that the run knew
  evidence ARRAY<STRING> the ACLs as kafka-acls prints them, and what else
  first_seen TIMESTAMP since when, where runs that showed it are not kept
access_day: access of one day, as lines of one file of Kafka's authorizer log show it, compared \
with the ACLs of that time; add up the lines of equal rows
  file_id STRING! the file, see log_file
  run_number BIGINT! run that read the lines
  log_day TIMESTAMP the day (UTC) of the lines; null where they have no time
  principal STRING type:name
  host STRING address as the broker writes it
  operation STRING Kafka's AclOperation
{_RESOURCE}
  request_name STRING Kafka's name of the API
  decision STRING what the broker did: ALLOWED or DENIED
  rule STRING SuperUser, MatchingAcl, DefaultAllow, DefaultDeny; or null
  deciding_acl_id STRING the ACL that the lines name, where it is known
  verdict STRING agree, mismatch, undetermined or unreadable
  expected_decision STRING what the ACLs at that time decide, under kafka
  expected_rule STRING by which rule
  expected_acl_id STRING the ACL that decides
  reason STRING why it does not agree
  first_at TIMESTAMP when the broker wrote the first of the lines
  last_at TIMESTAMP when it wrote the last one
  lines BIGINT! how many there are
  position BIGINT 1-based line of the file on which the first one stands, gzip undone
  is_open BOOLEAN the lines are read again once the file has grown, or a run knows newer ACLs
  raw STRING the first one, where it cannot be read, credentials masked
log_file: file of Kafka's authorizer log, known by its first bytes, and how far it has been read
  file_id STRING! number of the file
  source STRING file where it was read first
  log_zone STRING the --log-timezone with which it was read
  head_bytes BIGINT bytes at its beginning by which it is known, at most 4,096
  head_digest STRING sha-256 of these
  read_bytes BIGINT bytes that need not be read again, gzip undone
  read_lines BIGINT lines in these
  tail_bytes BIGINT bytes at their end by which they are known
  tail_digest STRING sha-256 of these
  seen_bytes BIGINT bytes that the file had
  is_waiting BOOLEAN some lines are newer than the run that read the ACLs
  packed STRING size and digest of the gzipped file; null where it is not gzipped or damaged
  spoke_from ARRAY<BIGINT> beginnings of the stretches without a gap of more than an hour, in \
microseconds since 1970
  spoke_to ARRAY<BIGINT> their ends
  broker STRING the broker whose log it is, as --authorizer-log NAME=PATH has it; null without name
  allowed_from ARRAY<BIGINT> beginnings of such stretches of ALLOWED lines; null where an older \
aclkit read the file
  allowed_to ARRAY<BIGINT> their ends
  beat_from ARRAY<BIGINT> the same of heartbeats, which the active controller gets
  beat_to ARRAY<BIGINT> their ends
acl_usage: grant (ALLOW in force) and what the authorizer log shows of its use
{_never_null(_ACL)}
  usage STRING! used, matched, unused, unknown or too-new
  last_used_at TIMESTAMP last line that names it
  last_matched_at TIMESTAMP last line that it would have allowed as well
  used_lines BIGINT lines that name it, from the day on with which the window begins
  added_at TIMESTAMP time of the record that added it
  window_from TIMESTAMP beginning of the days that are judged
  window_to TIMESTAMP their end: the newest line of the log
  covered DOUBLE share of the window in which the log of every broker has ALLOWED lines
acl_change_by: ACL that a record added or removed, and which principals sent such a request then
  acl_id STRING! the ACL's Uuid
  acl_change STRING! added or removed
  log_offset BIGINT! offset where it took effect
  log_time TIMESTAMP time of the record
  certainty STRING! one (one principal is certain), several (one of them), unsure (perhaps these), \
none (no request in the log), missing (no log of that time)
  principals ARRAY<STRING> who sent such a request near that time
  hosts ARRAY<STRING> from where, in the same order
  sources ARRAY<STRING> files of the controllers' authorizer log that name them
acl_lease: ACL in force whose end somebody wrote, as the newest nightly run read it
  acl_id STRING! the ACL's Uuid
  until_time TIMESTAMP when it is no longer needed; the end of a day is the next midnight in UTC
  place STRING file and line, or the lease, in which the end stands
  owner STRING who answers for it
  reason STRING why it has an end
setting: broker settings in force since a time
  since_time TIMESTAMP! when a run first saw them, by its machine's clock
  super_users ARRAY<STRING> super.users; null where they were unknown
  allow_everyone BOOLEAN allow.everyone.if.no.acl.found; null where it was unknown
  run_number BIGINT that run: they are in the order of these numbers
  log_offset BIGINT offset up to which it knew the log (exclusive)
job_run: finished run; the newest one has the table versions that readers open
  run_number BIGINT! counts up by one per warehouse
{_RUN}{_CLUSTER}
  job STRING! replay, materialize, run, usage, maintain, acls add, acls remove
  status STRING! complete, or incomplete where a hole was accepted or found
  started_at TIMESTAMP start
  finished_at TIMESTAMP end
  seconds DOUBLE how long it took
  head_offset BIGINT the state is as of this offset (exclusive)
  high_watermark BIGINT given high watermark; null = all batches count
  settings STRING JSON of all settings of the run
  counts MAP<STRING,BIGINT> rows read, decided, expected, …
  notes ARRAY<STRING> what a reader of the result must know
  table_versions MAP<STRING,BIGINT> Delta version of every table
  aclkit_version STRING version of aclkit
  format_number INT format of the tables; null = of before aclkit 0.3.0
"""
"""Each table as ``_table_of`` reads it; what stands in braces are columns of several tables."""

TABLES: Final[dict[str, Table]] = {
    table.name: table for table in map(_table_of, re.split(r"\n(?=\w)", _CONTRACT))
}
