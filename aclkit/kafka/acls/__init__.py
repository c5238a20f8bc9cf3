"""What kafka-acls does, without a cluster: its options ↔ ACLs, filters, text and commands. Pure."""
