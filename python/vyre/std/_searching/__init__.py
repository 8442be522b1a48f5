"""Kernels and tables that search text, by automata and by distance."""
