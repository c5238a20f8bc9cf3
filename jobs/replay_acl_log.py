"""spark-submit entry: sources → acl_log, acl_history and acl_current.

spark-submit --py-files dist/aclkit-VERSION.zip jobs/replay_acl_log.py \
    --warehouse W --source metadata-log:DIR
"""

from __future__ import annotations

import sys

from aclkit.cli.main import run_command

if __name__ == "__main__":
    sys.exit(run_command("replay", sys.argv[1:]))
