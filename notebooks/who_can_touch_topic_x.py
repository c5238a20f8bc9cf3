# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Who can touch topic X?
#
# The question of every audit, from the first answer down to the record in the log. It is asked of
# the warehouse that `make demo` makes, without Spark or Java. `ACLKIT_WAREHOUSE` names another
# warehouse, `ACLKIT_TOPIC` another topic; the two accesses that are looked at closely are found
# by the notebook itself.

# %%
import os

import matplotlib.pyplot as plt
from IPython.display import display

from aclkit.api import (
    Acl,
    Change,
    Resource,
    Rows,
    Warehouse,
    connect,
    explain_why,
    fetch,
    history_sentence,
    open_warehouse,
    preview,
    read_history,
    read_states,
    who_can,
    why_sentence,
)

warehouse = os.environ.get("ACLKIT_WAREHOUSE", "warehouse/demo")
topic = Resource("TOPIC", os.environ.get("ACLKIT_TOPIC", "payments.v1.events"))
published = open_warehouse(warehouse)
cluster = published.run.cluster_id
connection = connect(published)


def show(columns, rows) -> None:
    """Show rows, long texts cut."""
    display(Rows(columns, rows).pandas())


print(f"Cluster {cluster} as of offset {published.run.head_offset}, {topic}")

# %% [markdown]
# ## The question
#
# Who may do anything at all to it? Hosts that fare alike are one line; `User:<any-other>` stands
# for every principal that no ACL and no inventory names: if it is allowed something, everybody is.

# %%
answer = who_can(connection, published, cluster, "ANY", topic)
operations: dict[tuple[str, str], list[str]] = {}
for principal, hosts, operation, *_ in answer.rows:
    operations.setdefault((principal, hosts), []).append(operation)
show(
    ("who", "from", "may"),
    [
        (who, hosts if len(hosts) < 40 else f"{hosts.count(',') + 1} hosts", ", ".join(may))
        for (who, hosts), may in operations.items()
    ],
)

# %%
who = answer.pandas().groupby("operation")["principal"].nunique().sort_values()
figure, axes = plt.subplots(figsize=(7, 2.6))
axes.bar_label(axes.barh(who.index, who), padding=3)
axes.set_title(f"Principals that may do it to {topic}")
axes.margins(x=0.1)
plt.show()

# %% [markdown]
# ## The decisions
#
# Behind each line stand decisions, one per principal, host and operation, each with the rule and
# the ACL that decided. Counted, they say what the access rests on.

# %%
show(
    ("operation", "decision", "rule", "principals", "acls", "decisions"),
    fetch(
        connection,
        """
        SELECT operation, decision, rule, count(DISTINCT principal),
               count(DISTINCT deciding_acl_id), count(*)
        FROM explain
        WHERE resource_type = ? AND resource_name = ? AND operation IN ('READ', 'WRITE')
        GROUP BY ALL ORDER BY ALL
        """,
        [topic.resource_type, topic.resource_name],
    ),
)

# %% [markdown]
# ## The reasons
#
# A READ that an ACL allows, and one that an ACL denies: every ACL that takes part, in the order
# in which they decide, and whether the decision would be another one without it.


# %%
def short(acl: Acl) -> str:
    """Return what an ACL says in a few words."""
    return f"{acl.permission_type} {acl.operation} on {acl.pattern_type} {acl.resource_name}"


def first(decision: str) -> tuple[str, str, str | None]:
    """Return principal, operation and a host of one access that an ACL decided so."""
    found = who_can(connection, published, cluster, "READ", topic, decision=decision)
    rows = [row for row in found.rows if row[4] == "MatchingAcl" and "<" not in row[0]]
    principal, hosts, operation = (rows or found.rows)[-1][:3]
    return principal, operation, None if hosts == "*" else hosts.split(",")[0]


accesses = [first("ALLOWED"), first("DENIED")]
for principal, operation, host in accesses:
    why = explain_why(connection, published, cluster, principal, operation, topic, host=host)
    print(why_sentence(why), "\n")
    show(
        ("rank", "ACL", "without it"),
        [
            (part.rank, short(part.acl), part.without.decision if part.changes else "the same")
            for part in why.acls
        ],
    )
    print()

# %% [markdown]
# ## The history
#
# Since when is that so, and through which record of the log?

# %%
for principal, operation, host in accesses:
    past = read_history(connection, published, cluster, principal, operation, topic, host=host)
    print(history_sentence(past), "\n")
    show(
        ("offset", "time", "decision", "cause"),
        [(at.from_offset, at.from_time, at.ruling.decision, at.cause) for at in past.intervals],
    )
    print()

# %% [markdown]
# ## The change of last night
#
# A nightly run writes what it changed into `access_change`, with the offsets of the records that
# are the cause. The demo is one night old, so for it the table is empty.

# %%
nights = fetch(
    connection,
    """
    SELECT r.run_number, coalesce(c.principal, 'class ' || c.principal_class) AS who,
           c.gained, c.lost, c.cause, c.cause_offsets
    FROM access_change c JOIN job_run r ON r.run_id = c.run_id
    WHERE c.resource_type = ? AND c.resource_name = ?
      AND c.ruleset_before IS NOT NULL AND c.ruleset_after IS NOT NULL ORDER BY ALL
    """,
    [topic.resource_type, topic.resource_name],
)
if nights:
    show(("run", "who", "gained", "lost", "cause", "offsets"), nights)
else:
    print("No run has changed the access to it yet.")

# %% [markdown]
# Any two offsets or times can be compared as well, run or no run between them: here the second half
# of the log. Both states are decided for the same inventory, and what differs is told.

# %%
half = (published.run.head_offset or 0) // 2
moments = half, published.run.head_offset or 0
then, now = read_states(Warehouse(warehouse, cluster), moments)
effect = preview(Change(before=then, after=now), now.inventory).effect
print(f"From offset {then.offset} to {now.offset}: {effect.count('gained'):,} accesses "
      f"gained, {effect.count('lost'):,} lost; of {topic}:\n")  # fmt: skip
show(
    ("change", "who", "hosts", "operation"),
    [
        (kind, line.principal, len(line.hosts), line.operation)
        for kind in ("gained", "lost")
        for line in effect.lines(kind)
        if line.resource == topic
    ][:10],
)

# %%
connection.close()
