"""Files that vyre writes for users hold the old content or the new one, also after a failure."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import vyre
from conftest import refused
from vyre import Expr, Node, Program
from vyre._base.files import write_atomically
from vyre.conformance.certificate import Certificate
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
    "Certificate.save": lambda path: Certificate({"levels": "new" * 100}).save(path),
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
    with no_space(), pytest.raises(vyre.FileError) as error:
        WRITERS[writer](path)
    assert str(error.value) == (
        f"`{path}` cannot be written: File too large. Fix: free space there, or name a file on another disk."
    )
    assert error.value.errno == errno.EFBIG
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
    code = "from vyre._base.files import write_atomically; write_atomically('/dev/stdout', 'text\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "text\n"


@pytest.mark.parametrize("name", ["n" * 255, "日" * 85, "n", "." * 3])
def test_a_file_whose_name_is_as_long_as_may_be_is_written(tmp_path, name):
    path = tmp_path / name
    write_atomically(path, "text")
    assert path.read_text() == "text"
    assert names(tmp_path) == [path.name]


NO_PLACE = {
    "nowhere/file.json": (FileNotFoundError, errno.ENOENT, "No such file or directory"),
    "folder": (IsADirectoryError, errno.EISDIR, "Is a directory"),
    "file/below.json": (NotADirectoryError, errno.ENOTDIR, "Not a directory"),
    "n" * 256: (OSError, errno.ENAMETOOLONG, "File name too long"),
    "la": (OSError, errno.ELOOP, "Too many levels of symbolic links"),
}


@pytest.mark.parametrize("name", NO_PLACE)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_cannot_be_written_is_a_sentence_that_names_the_users_path(tmp_path, writer, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    (tmp_path / "la").symlink_to(tmp_path / "lb")
    (tmp_path / "lb").symlink_to(tmp_path / "la")
    before, path = names(tmp_path), str(tmp_path / name)
    kind, number, why = NO_PLACE[name]
    with refused(
        vyre.FileError, f"`{path}` cannot be written: {why}", "name a file in a folder that you may write to"
    ) as error:
        WRITERS[writer](path)
    assert isinstance(error.value, kind)
    assert isinstance(error.value, vyre.ArgumentError)
    assert (error.value.errno, error.value.strerror, error.value.filename) == (number, why, path)
    assert names(tmp_path) == before
    assert (tmp_path / "la").is_symlink()


READERS = {
    "vyre.replay": (vyre.replay, "name a file that CheckResult.save wrote"),
    "Certificate.load": (Certificate.load, "name a file that `vyre conform --out` wrote"),
}


@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_read_is_a_sentence_that_both_hierarchies_catch(tmp_path, reader):
    read, fix = READERS[reader]
    for path, kind, why in (
        (tmp_path / "none.json", FileNotFoundError, "No such file or directory"),
        (tmp_path, IsADirectoryError, "Is a directory"),
    ):
        with pytest.raises(kind) as error:
            read(path)
        assert isinstance(error.value, vyre.VyreError)
        assert str(error.value) == f"`{path}` cannot be read: {why}. Fix: {fix}."


def test_an_error_of_a_file_is_the_same_in_another_process():
    with pytest.raises(FileNotFoundError) as error:
        vyre.replay("nope.json")
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is type(error.value)
    assert (str(again), again.errno, again.filename) == (str(error.value), errno.ENOENT, "nope.json")
    assert type(again).__name__ == "FileError"


def test_what_is_renamed_is_on_the_disk_before(tmp_path, monkeypatch):
    """Otherwise a machine that stops has an empty file where the old one was."""
    told = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: told.append("fsync") or sync(handle))
    monkeypatch.setattr(os, "replace", lambda *paths: told.append("replace") or replace(*paths))
    write_atomically(tmp_path / "file", "text")
    assert told == ["fsync", "replace"]


def test_a_path_with_a_nul_is_told_as_it_is_written():
    with refused(
        vyre.ArgumentError,
        "`run\\x00.json` cannot be written: embedded null byte",
        "name a file in a folder that you may write to",
    ):
        WRITERS["Profile.to_perfetto"]("run\0.json")


def test_a_path_of_any_length_is_named_in_a_short_sentence(tmp_path):
    with pytest.raises(vyre.FileError) as error:
        write_atomically("a/" * 50_000, "text")
    assert len(str(error.value)) < 1200


def test_a_reduced_case_of_the_fuzzer_is_read_back(tmp_path):
    case = generate(1)
    write_atomically(tmp_path / "case.json", case.to_json() + "\n")
    assert vyre.fuzz.Case.from_json((tmp_path / "case.json").read_text()) == case
