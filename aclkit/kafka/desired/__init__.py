"""The files in which teams keep their ACLs: a module a format, and one way to read them all."""
