"""ACLs × inventory → pairs, rulings and the explain table."""
