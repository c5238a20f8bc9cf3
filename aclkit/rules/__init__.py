"""The rule, pure: patterns and the decision."""
