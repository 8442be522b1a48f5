"""Arrays, the programs that run on them, and what a checked run finds."""
