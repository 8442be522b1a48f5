"""Kernels and procedures of hashes and ciphers."""
