"""Published tables → answers, without a JVM."""
