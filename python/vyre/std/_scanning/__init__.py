"""Kernels and procedures that scan, reduce and compact."""
