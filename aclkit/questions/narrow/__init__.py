"""What clients used → a narrower set of ACLs for each principal, proven."""
