"""Who, from where and what is asked about: from the log, from the user's files, and "any other"."""
