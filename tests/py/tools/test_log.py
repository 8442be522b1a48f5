"""The logger `vyre`: silent unless an application sets it up, and then it tells of copies, traces and pickles."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys

import numpy as np
import pytest

import vyre
from places import PLACES, name_of
from vyre import InOut, u32

X = np.arange(6, dtype=np.uint32)

WORK = """
import numpy as np, vyre
@vyre.kernel
def doubled(x: vyre.InOut[vyre.u32]):
    x[vyre.gid(0)] *= 2
from vyre._base import log as _log
x = vyre.array(np.arange(3, dtype=np.uint32), backend="cpu")
np.from_dlpack(x, copy=True) if np.__version__ >= "2.1" else np.from_dlpack(x)
_log.warning("a warning")
"""


def output_of(code, folder):
    file = folder / "work.py"
    file.write_text(code)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout + done.stderr


def test_nothing_is_printed_by_a_program_that_sets_up_no_logging(tmp_path):
    assert output_of(WORK, tmp_path) == ""
    assert output_of(f"import logging\n{WORK}", tmp_path) == ""


def test_vyre_imports_no_logging(tmp_path):
    code = f"import sys, vyre\nbefore = 'logging' in sys.modules\nprint(before)\n{WORK.split('from vyre')[0]}"
    assert output_of(code, tmp_path) == "False\n"


def test_an_application_sees_it_by_its_name(tmp_path):
    head = "import logging\nlogging.basicConfig(level='DEBUG', format='%(name)s %(levelname)s %(message)s')\n"
    lines = output_of(head + WORK, tmp_path).splitlines()
    assert "vyre DEBUG vyre.array copied 12 bytes to cpu" in lines
    assert lines[-1] == "vyre WARNING a warning"


@pytest.mark.parametrize("place", PLACES, ids=name_of)
def test_copies_are_told_and_shared_memory_is_not(place, caplog):
    caplog.set_level(logging.DEBUG, "vyre")
    array = vyre.array(X, backend=place[0], device=place[1])
    caplog.clear()
    np.from_dlpack(array)
    told = [] if place[1] is None else [f"DLPack copied 24 bytes of {place[0]} to the host"]
    assert [record.getMessage() for record in caplog.records] == told


def test_traces_and_operations_that_arrive_are_told(caplog):
    caplog.set_level(logging.DEBUG, "vyre")

    @vyre.kernel
    def doubled(x: InOut[u32]):
        x[vyre.gid(0)] *= 2

    doubled(X.copy(), backend="cpu")
    assert caplog.records[-1].getMessage().startswith("kernel `doubled` was traced in ")
    caplog.clear()
    doubled(X.copy(), backend="cpu")
    assert caplog.records == []

    @vyre.op("logged.next", inputs=[vyre.u32], output=vyre.u32)
    def following(a):
        return a + 1

    pickle.loads(pickle.dumps(following(vyre.Expr.var("x"))))
    assert [record.getMessage() for record in caplog.records] == ["operation logged.next@1 came with a pickle"]
