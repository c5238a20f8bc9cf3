"""spark-submit entry: acl_current and inventory → every decision.

spark-submit --py-files dist/aclkit-VERSION.zip jobs/materialize_decisions.py \
    --warehouse W --super-users "User:admin"
"""

from __future__ import annotations

import sys

from aclkit.cli.main import run_command

if __name__ == "__main__":
    sys.exit(run_command("materialize", sys.argv[1:]))
