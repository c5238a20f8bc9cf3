"""A set of ACLs and a request → decision, rule and deciding ACL. Pure: the specification."""
