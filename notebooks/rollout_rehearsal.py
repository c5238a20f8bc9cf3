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
# # The rehearsal of a rollout
#
# `User:alice` reads every topic through one ACL on `*`. She needs those of payments. The ACL shall
# go and a narrow one come: this plays it through before anybody touches the cluster, in both
# orders, and draws what would happen. It is computed from the warehouse that `make demo` makes,
# without Spark or Java; `ACLKIT_WAREHOUSE` names another one. Nothing is written.

# %%
import os
from collections import Counter
from itertools import islice, pairwise

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import display

from aclkit.api import (
    ANY_OTHER,
    Acl,
    Change,
    Rows,
    State,
    Warehouse,
    decide_outside,
    preview,
    preview_topics,
    read_state,
)

WHO = "User:alice"
today = read_state(Warehouse(os.environ.get("ACLKIT_WAREHOUSE", "warehouse/demo")))
print(f"Cluster {today.cluster_id} as of offset {today.offset}")

# %% [markdown]
# ## What there is, and what is wanted

# %%
broad = [
    acl
    for acl in sorted(today.acls.values(), key=str)
    if (acl.principal, acl.resource_type, acl.resource_name) == (WHO, "TOPIC", "*")
    and acl.permission_type == "ALLOW"
]
narrow = Acl(
    acl_id="to-come-1", resource_type="TOPIC", resource_name="payments", pattern_type="PREFIXED",
    principal=WHO, host="*", operation="READ", permission_type="ALLOW",
)  # fmt: skip
print("to go:   ", *broad, sep="\n  ")
print("to come: ", narrow, sep="\n  ")

# %% [markdown]
# ## Step by step
#
# Each step is compared with the state after the step before it. *Gained* and *lost* count single
# accesses; *redecided* are those that stay as they are while another ACL decides them.

# %%
gone = [acl.acl_id for acl in broad]
with_narrow, without_broad = today.with_acls([narrow]), today.without(gone)
end = with_narrow.without(gone)
add_first = [("today", today), ("add", with_narrow), ("then remove", end)]
remove_first = [("today", today), ("remove", without_broad), ("then add", end)]


def effect_of(before: State, after: State):
    """Decide again what differs between two states, for the published inventory."""
    return preview(Change(before=before, after=after), today.inventory)


def rehearse(steps):
    """Return a row for each step: its name, what it does, and how many accesses that is."""
    rows = []
    for (_, before), (name, after) in pairwise(steps):
        found = effect_of(before, after)
        counts = [found.effect.count(kind) for kind in ("gained", "lost", "redecided")]
        rows.append((name, found.verdict, *counts, found.proof or "-"))
    return rows


for steps in (add_first, remove_first):
    columns = ("step", "verdict", "gained", "lost", "redecided", "for every name")
    display(Rows(columns, rehearse(steps)).pandas())

# %% [markdown]
# Both orders end in the same state, and the second one passes through an outage: what it loses at
# first and gets back at the end, she could not read in between.

# %%
lost_meanwhile = effect_of(without_broad, end).effect
print(f"{lost_meanwhile.count('gained')} accesses would fail between the two steps, such as:")
for cell in islice(lost_meanwhile.cells("gained"), 3):
    print(f"  {cell.principal} {cell.operation} {cell.resource_name} from {cell.host}")

# %% [markdown]
# ## The picture
#
# The topics, grouped by the first part of their name, and how many of each group she may read from
# any host, in each state of both orders.

# %%
topics = [
    resource
    for resource in today.inventory.resources
    if resource.resource_type == "TOPIC" and resource.resource_name != ANY_OTHER
]


def group_of(name: str) -> str:
    """Return the first part of a topic's name."""
    return name.replace("-", ".").replace("_", ".").strip(".").split(".")[0]


def readable(state: State) -> Counter[str]:
    """Count the topics of each group that she may read from somewhere."""
    decided = decide_outside(
        list(state.acls.values()), [WHO], topics, today.inventory.hosts, frozenset(),
        state.settings, state.semantics,
    )  # fmt: skip
    return Counter(
        group_of(one.resource.resource_name)
        for one in decided
        if one.operation == "READ"
        and any(verdict.decision == "ALLOWED" for verdict in one.by_host.values())
    )


def draw(steps, title: str) -> None:
    """Draw a bar for each group of topics and state: how many of the group she may read."""
    totals = Counter(group_of(topic.resource_name) for topic in topics)
    groups = [group for group, _ in totals.most_common(8)]
    counts = {name: [found[group] for group in groups] for name, found in (
        (name, readable(state)) for name, state in steps)}  # fmt: skip
    shares = pd.DataFrame(counts, index=[f"{group} ({totals[group]})" for group in groups])
    shares.plot.barh(figsize=(7, 4), width=0.8, title=title).invert_yaxis()
    plt.show()


draw(add_first, f"Topics that {WHO} may read: add first")

# %%
draw(remove_first, f"Topics that {WHO} may read: remove first")

# %% [markdown]
# ## Topics to come
#
# A prefix reaches names that nobody has thought of yet. Whom will the next topics belong to?

# %%
for topic in preview_topics(["payments.v2.events", "paymentsarchive"], end):
    mine = sorted({a.operation for a in topic.accesses if a.principal == WHO
                   and a.verdict.decision == "ALLOWED"})  # fmt: skip
    print(f"{topic.topic}: governed by {len(topic.governed_by)} ACLs; {WHO} may {', '.join(mine)}")
