"""spark-submit entry: the whole nightly run, as one published run.

spark-submit --py-files dist/aclkit-VERSION.zip jobs/nightly_audit.py --config conf/demo.toml
"""

from __future__ import annotations

import sys

from aclkit.cli.main import run_command

if __name__ == "__main__":
    sys.exit(run_command("run", sys.argv[1:]))
