"""Files that vyre writes for users: the old one or the new one, whatever goes wrong."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import vyre
from vyre import Expr, Node, Program
from vyre._files import write_atomically
from vyre.fuzz import generate


def checked() -> vyre.CheckResult:
    far = Program([vyre.BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1), [Node.store("out", Expr.gid_x() + 100, 1)])
    return vyre.check(far, {"out": 4}, 1)


def traced() -> vyre.Profile:
    with vyre.profile() as profile:
        checked()
    return profile


WRITERS = {
    "CheckResult.save": lambda path: checked().save(path),
    "Profile.to_perfetto": lambda path: traced().to_perfetto(path),
    "write_atomically": lambda path: write_atomically(path, "new\n" * 1000),
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def no_space():
    """A write beyond the first hundred bytes of a file fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path, writer):
    path = tmp_path / "kept.json"
    path.write_text("the good one\n")
    with no_space(), pytest.raises((OSError, vyre.ArgumentError), match="File too large"):
        WRITERS[writer](path)
    assert path.read_text() == "the good one\n"
    assert names(tmp_path) == ["kept.json"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_is_replaced_whole_and_nothing_stays_beside_it(tmp_path, writer):
    path = tmp_path / "new.json"
    path.write_text("old" * 100_000)
    WRITERS[writer](path)
    assert "old" not in path.read_text()
    assert names(tmp_path) == ["new.json"]


def test_a_new_file_has_the_permissions_that_the_umask_leaves_and_a_replaced_one_keeps_its_own(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write_atomically(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_atomically(path, "newer")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    goal = tmp_path / "goal"
    goal.write_text("old")
    (tmp_path / "link").symlink_to(goal)
    write_atomically(tmp_path / "link", "new")
    assert goal.read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path) == ["goal", "link"]


def test_what_is_no_file_is_written_to(tmp_path):
    code = "from vyre._files import write_atomically; write_atomically('/dev/stdout', 'text\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "text\n"


def test_a_file_whose_name_is_as_long_as_may_be_is_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_atomically(path, "text")
    assert path.read_text() == "text"
    assert names(tmp_path) == [path.name]


def test_a_reduced_case_of_the_fuzzer_is_read_back(tmp_path):
    case = generate(1)
    write_atomically(tmp_path / "case.json", case.to_json() + "\n")
    assert vyre.fuzz.Case.from_json((tmp_path / "case.json").read_text()) == case
