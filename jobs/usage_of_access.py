"""spark-submit entry: check brokers' authorizer logs, and show which grants are not used.

spark-submit --py-files dist/aclkit-VERSION.zip jobs/usage_of_access.py \
    --warehouse W --authorizer-log /var/log/kafka
"""

from __future__ import annotations

import sys

from aclkit.cli.main import run_command

if __name__ == "__main__":
    sys.exit(run_command("usage", sys.argv[1:]))
