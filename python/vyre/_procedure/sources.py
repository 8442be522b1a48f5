"""Which recording a Procedure comes from: its steps and arrays have lines and kernels, and the value has none.

Equal procedures are one value, so that a value which was unpickled or read from text has the lines of an equal one
that this process has recorded. The last of equal ones is meant: a file may have changed between two.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from vyre._core import Procedure
    from vyre._procedure.steps import Recorded

__all__ = ["note_recording", "recording_of", "with_steps"]

_RECORDINGS: WeakValueDictionary[Procedure, Recorded] = WeakValueDictionary()
# The last recordings, which live on without their functions until the operations that they become are registered.
_LAST: deque[Recorded] = deque(maxlen=16)


def note_recording(procedure: Procedure, recorded: Recorded) -> None:
    _RECORDINGS[procedure] = recorded
    _LAST.append(recorded)


def recording_of(procedure: Procedure) -> Recorded | None:
    """The recording that a procedure comes from; None where this process has none."""
    return _RECORDINGS.get(procedure)


def with_steps(recorded: Recorded | None) -> Recorded | None:
    """What was recorded, or for a procedure that was loaded the recording that it comes from; None if there is none."""
    return recorded.source if recorded is not None and recorded.is_loaded else recorded
