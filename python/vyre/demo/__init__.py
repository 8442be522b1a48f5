"""The demonstration: SHA-256 of every file of a directory tree, on any backend, compared with hashlib.

Run it with ``python -m vyre.demo [DIR]``.
"""
