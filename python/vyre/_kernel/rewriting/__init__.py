"""A kernel's source: what it may hold, and how it is rewritten so that branches and loops are recorded."""
