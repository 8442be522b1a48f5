"""Kernels and procedures of graphs and matrices."""
