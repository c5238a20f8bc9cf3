"""A replay in this process, by DuckDB over Arrow tables: no Spark and no Java."""
