"""Sends messages to the logger ``vyre``. Nothing is shown unless the application sets up logging.

A process that has not imported ``logging`` cannot have set it up, so that a message costs nothing there: ``logging`` is
not imported, and the message is not formatted. The messages are for people who look for time or memory; programs read
results, reports and profiles.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging
    from typing import Any

__all__ = ["debug", "info", "warning"]

_NAME = "vyre"


def debug(message: str, *values: Any) -> None:
    """Log what helps to understand a run: copies, kernels that are traced, operations that arrive with a pickle."""
    if logger := _logger():
        logger.debug(message, *values)


def info(message: str, *values: Any) -> None:
    """Log what matters when many processes run: the device of each worker, blocks that run again."""
    if logger := _logger():
        logger.info(message, *values)


def warning(message: str, *values: Any) -> None:
    """Log what an operator should look at although the call goes on."""
    if logger := _logger():
        logger.warning(message, *values)


def _logger() -> logging.Logger | None:
    module = sys.modules.get("logging")
    if module is None or not hasattr(module, "getLogger"):  # another thread may be importing it
        return None
    logger: logging.Logger = module.getLogger(_NAME)
    if not logger.handlers:
        # Without a handler Python itself would print warnings.
        logger.addHandler(module.NullHandler())
    return logger
