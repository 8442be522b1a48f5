"""The cases, one family a module: each has a function ``cases()``, and `catalogue.py` lists the families by level."""
