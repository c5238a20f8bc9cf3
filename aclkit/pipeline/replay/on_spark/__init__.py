"""A replay by Spark: for logs and tables that one process should not hold."""
