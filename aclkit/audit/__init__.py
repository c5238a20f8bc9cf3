"""Findings on a published run, the reports that show them, and alerts."""
