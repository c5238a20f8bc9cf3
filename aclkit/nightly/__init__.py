"""The night: all of it as one run, and the policies it is held against."""
