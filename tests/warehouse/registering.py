"""Register a warehouse in a Hive metastore as docs/spark.md says, in a JVM of its own.

Arguments: a folder for the metastore, the warehouse, the SQL. On stdout come the tables' names
and, in the last line, how many rulings there are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from aclkit.runtime.spark import build_session


def main() -> None:
    folder, warehouse, recipe = sys.argv[1:]
    spark = build_session(
        "aclkit-metastore",
        master="local[1]",
        extra_conf={
            "spark.sql.catalogImplementation": "hive",
            "spark.sql.warehouse.dir": f"{folder}/tables",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={folder}/metastore;create=true"
            ),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
            "spark.sql.shuffle.partitions": "1",
        },
    )
    for statement in filter(str.strip, recipe.replace("/srv/acls", warehouse).split(";")):
        place = statement.rpartition("LOCATION ")[2].strip().strip("'")
        # The page says so: what no run has written cannot be registered.
        if "LOCATION" not in statement or Path(place).is_dir():
            spark.sql(statement)
    tables = sorted(row.tableName for row in spark.sql("SHOW TABLES IN acls").collect())
    ((rulings,),) = spark.sql("SELECT count(*) FROM acls.explain_ruling").collect()
    sys.stdout.write(f"{' '.join(tables)}\n{rulings}\n")
    spark.stop()


if __name__ == "__main__":
    main()
