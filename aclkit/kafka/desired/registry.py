"""All formats of desired state but those of Kafka's own tools, in the order of asking."""

from __future__ import annotations

from typing import Final

from aclkit.kafka.desired import (
    csv_text,
    gitops,
    hcl,
    jikkou,
    kafka_user,
    scripts,
    terraform_files,
    terraform_plan,
)
from aclkit.kafka.desired.formats import Format

FORMATS: Final[tuple[Format, ...]] = (
    *terraform_plan.FORMATS,
    *terraform_files.FORMATS,
    *gitops.FORMATS,
    *kafka_user.FORMATS,
    *jikkou.FORMATS,
    *csv_text.FORMATS,
    *hcl.FORMATS,
    *scripts.FORMATS,
)
