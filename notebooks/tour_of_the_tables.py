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
# # A tour of the tables
#
# The warehouse that `make demo` makes, table by table, in the order in which they come about.
# DuckDB reads it through `aclkit.api`: no Spark, no Java, and nothing can be written.
# `ACLKIT_WAREHOUSE` names another warehouse.

# %%
import os

import matplotlib.pyplot as plt
import pandas as pd

from aclkit.api import connect, open_warehouse, run_sql

published = open_warehouse(os.environ.get("ACLKIT_WAREHOUSE", "warehouse/demo"))
connection = connect(published)


def ask(statement: str) -> pd.DataFrame:
    """Return the rows of one SELECT; `.polars()` and `.arrow()` give them as these have them."""
    return run_sql(connection, statement).pandas()


# %% [markdown]
# ## What is published
#
# Every run writes one row into `job_run`, last of all. It names the version of each table that
# readers open; that is what `connect` has just done.

# %%
for run in published.runs:
    print(f"run {run.run_number}: {run.job} of {run.cluster_id}, {run.status}")
    print(f"  as of offset {run.head_offset}, {run.counts['acls']} ACLs alive")
    for note in run.notes:
        print(f"  {note}")

# %%
ask("SHOW TABLES")

# %% [markdown]
# ## The log
#
# `acl_log` holds facts: records as they stand in the log, and the entries of snapshots.
# `log_range` says which offsets were read, `acl_reject` what could not be used.

# %%
ask("SELECT fact, record_type, count(*) AS facts FROM acl_log GROUP BY ALL ORDER BY ALL")

# %%
ask("SELECT fact, from_offset, to_offset, epoch FROM log_range ORDER BY ALL")

# %%
ask("SELECT stage, reason, count(*) AS times FROM acl_reject GROUP BY ALL ORDER BY ALL")

# %% [markdown]
# ## History
#
# One row per lifetime. The state as of offset N is what took effect below N and was not removed
# below N; `acl_current` is what lives at the end.

# %%
ask("""
SELECT added_by, count(*) AS lifetimes, count(removed_offset) AS ended,
       min(effective_offset) AS earliest, max(effective_offset) AS latest
FROM acl_history GROUP BY ALL ORDER BY ALL
""")

# %%
ask("""
SELECT count(*) AS alive_at_900 FROM acl_history
WHERE effective_offset < 900 AND (removed_offset IS NULL OR removed_offset >= 900)
""")

# %%
ask("""
SELECT resource_type, pattern_type, permission_type, count(*) AS acls
FROM acl_current GROUP BY ALL ORDER BY ALL
""")

# %% [markdown]
# ## What is asked about
#
# Principals, hosts and resources, with their origin. The any-other rows stand for whatever is
# named nowhere; `witness` is one such name.

# %%
ask("""
SELECT 'principal' AS dimension, origin, count(*) AS number FROM principal GROUP BY ALL
UNION ALL SELECT 'host', origin, count(*) FROM host GROUP BY ALL
UNION ALL SELECT 'resource', origin, count(*) FROM resource GROUP BY ALL
ORDER BY ALL
""")

# %%
ask("SELECT resource_type, resource_name, witness FROM resource WHERE is_any_other ORDER BY ALL")

# %% [markdown]
# ## Rulesets and rulings
#
# The ACLs that apply to a pair are its ruleset. Many pairs share one, and each ruleset is decided
# once per operation and host that it names: far fewer rows than decisions.

# %%
ask("""
SELECT 'pairs with an own ACL' AS what, count(*) AS number FROM explain_pair
UNION ALL SELECT 'pairs of a class', count(*) FROM explain_class_pair
UNION ALL SELECT 'rulesets', count(*) FROM ruleset
UNION ALL SELECT 'rulings', count(*) FROM explain_ruling
UNION ALL SELECT 'decisions', count(*) FROM explain
ORDER BY number
""")

# %%
decisions = ask("SELECT rule, decision, count(*) AS cells FROM explain GROUP BY ALL ORDER BY ALL")
decisions.head(10)

# %%
labels = decisions["decision"] + " by " + decisions["rule"]
colours = decisions["decision"].map({"ALLOWED": "tab:blue", "DENIED": "tab:gray"})
figure, axes = plt.subplots(figsize=(7, 2.2))
axes.bar_label(axes.barh(labels, decisions["cells"], color=colours), fmt="{:,.0f}", padding=3)
axes.set_title("Decisions by rule")
axes.margins(x=0.2)
plt.show()

# %% [markdown]
# ## Why
#
# `explain` names the ACL that decided, `explain_acl` all that match.

# %%
ask("""
SELECT principal, host, decision, rule, deciding_acl_id FROM explain
WHERE resource_name = 'payments' AND operation = 'READ' AND principal = 'User:bob'
  AND host IN ('10.0.0.4', '10.0.0.5') ORDER BY ALL
""")

# %%
ask("""
SELECT host, acl_permission_type || ' ' || acl_operation AS acl,
       acl_pattern_type || ' ' || acl_resource_name AS pattern, acl_host
FROM explain_acl
WHERE resource_name = 'payments' AND operation = 'READ' AND principal = 'User:bob'
  AND host IN ('10.0.0.4', '10.0.0.5') ORDER BY ALL
""")

# %% [markdown]
# ## Findings
#
# What a person should look at, with the ACLs behind it and what to do.

# %%
ask("SELECT severity, finding, count(*) AS number FROM finding GROUP BY ALL ORDER BY ALL")

# %%
for found in ask(
    "SELECT message, fix FROM finding WHERE severity = 'high' ORDER BY ALL"
).itertuples():
    print(f"{found.message}\n  What to do: {found.fix}")

# %%
connection.close()
