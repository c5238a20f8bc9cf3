"""The nightly run: all steps as one run, and the policies that it is checked against."""
