"""Kernels and procedures that sort and select."""
