"""What the code runs on: Spark, Java, jars, progress."""
