"""What every layer stands on: wrong calls, texts, files, source lines, and the log."""

import time

__all__ = ["IMPORTED"]

IMPORTED = time.time_ns()  # when vyre was imported
