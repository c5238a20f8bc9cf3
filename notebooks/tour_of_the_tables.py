# ---
# jupyter:
#   jupytext:
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
# DuckDB reads it through `aclkit.questions.query`: no Spark, no Java, and nothing can be written.
# `ACLKIT_WAREHOUSE` names another warehouse.

# %%
import os
import sys

from aclkit.api import connect, open_warehouse, run_sql, write_rows

published = open_warehouse(os.environ.get("ACLKIT_WAREHOUSE", "warehouse/demo"))
connection = connect(published)


def show(statement: str) -> None:
    """Print the rows of one SELECT."""
    answer = run_sql(connection, statement)
    write_rows(answer.columns, answer.rows, "table", sys.stdout)


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
show("SHOW TABLES")

# %% [markdown]
# ## The log
#
# `acl_log` holds facts: records as they stand in the log, and the entries of snapshots.
# `log_range` says which offsets were read, `acl_reject` what could not be used.

# %%
show("SELECT fact, record_type, count(*) AS facts FROM acl_log GROUP BY ALL ORDER BY ALL")

# %%
show("SELECT fact, from_offset, to_offset, epoch FROM log_range ORDER BY ALL")

# %%
show("SELECT stage, reason, count(*) AS times FROM acl_reject GROUP BY ALL ORDER BY ALL")

# %% [markdown]
# ## History
#
# One row per lifetime. The state as of offset N is what took effect below N and was not removed
# below N; `acl_current` is what lives at the end.

# %%
show("""
SELECT added_by, count(*) AS lifetimes, count(removed_offset) AS ended,
       min(effective_offset) AS earliest, max(effective_offset) AS latest
FROM acl_history GROUP BY ALL ORDER BY ALL
""")

# %%
show("""
SELECT count(*) AS alive_at_900 FROM acl_history
WHERE effective_offset < 900 AND (removed_offset IS NULL OR removed_offset >= 900)
""")

# %%
show("""
SELECT resource_type, pattern_type, permission_type, count(*) AS acls
FROM acl_current GROUP BY ALL ORDER BY ALL
""")

# %% [markdown]
# ## What is asked about
#
# Principals, hosts and resources, with their origin. The any-other rows stand for whatever is
# named nowhere; `witness` is one such name.

# %%
show("""
SELECT 'principal' AS dimension, origin, count(*) AS number FROM principal GROUP BY ALL
UNION ALL SELECT 'host', origin, count(*) FROM host GROUP BY ALL
UNION ALL SELECT 'resource', origin, count(*) FROM resource GROUP BY ALL
ORDER BY ALL
""")

# %%
show("SELECT resource_type, resource_name, witness FROM resource WHERE is_any_other ORDER BY ALL")

# %% [markdown]
# ## Rulesets and rulings
#
# The ACLs that apply to a pair are its ruleset. Many pairs share one, and each ruleset is decided
# once per operation and host that it names: far fewer rows than decisions.

# %%
show("""
SELECT 'pairs with an own ACL' AS what, count(*) AS number FROM explain_pair
UNION ALL SELECT 'pairs of a class', count(*) FROM explain_class_pair
UNION ALL SELECT 'rulesets', count(*) FROM ruleset
UNION ALL SELECT 'rulings', count(*) FROM explain_ruling
UNION ALL SELECT 'decisions', count(*) FROM explain
ORDER BY number
""")

# %%
show("SELECT rule, decision, count(*) AS cells FROM explain GROUP BY ALL ORDER BY ALL")

# %% [markdown]
# ## Why
#
# `explain` names the ACL that decided, `explain_acl` all that match.

# %%
show("""
SELECT principal, host, decision, rule, deciding_acl_id FROM explain
WHERE resource_name = 'payments' AND operation = 'READ' AND principal = 'User:bob'
  AND host IN ('10.0.0.4', '10.0.0.5') ORDER BY ALL
""")

# %%
show("""
SELECT host, acl_permission_type, acl_operation, acl_pattern_type, acl_resource_name, acl_host
FROM explain_acl
WHERE resource_name = 'payments' AND operation = 'READ' AND principal = 'User:bob'
  AND host IN ('10.0.0.4', '10.0.0.5') ORDER BY ALL
""")

# %% [markdown]
# ## Findings
#
# What a person should look at, with the ACLs behind it and what to do.

# %%
show("SELECT severity, finding, count(*) AS number FROM finding GROUP BY ALL ORDER BY ALL")

# %%
show("SELECT message, fix FROM finding WHERE severity = 'high' ORDER BY ALL")

# %%
connection.close()
