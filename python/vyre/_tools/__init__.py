"""Tools for kernels, procedures and the library: checks, bisection, repetition, and what commands need."""
