"""Lists and names of files as sha256sum and b3sum have them, in any locale, and files that can be read once."""

from __future__ import annotations

import hashlib
import io
import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import blake3
import pytest

from test_hash_command import SMALL, expected
from vyre._base import files as _files
from vyre._trees import hashing, searching
from vyre._trees.walk import files_of

CPU = ("--backend", "cpu")
LOCALES = {
    "C": {"LC_ALL": "C"},
    "ASCII": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "UTF-8": {"LC_ALL": "C.UTF-8"},
    "ISO-8859-1": {"LC_ALL": "en_US.ISO-8859-1"},
    "BIG5": {"LC_ALL": "zh_TW.BIG5"},  # whose letters may end with the byte of a backslash
}
# b3sum can write these alone: it takes names for UTF-8 and writes a carriage return as it is.
PLAIN = [
    *(b"a", b"-x", b"--check", b" first", b"last ", b"#c", b"*star", b"\\", b"back\\slash", b"two\nlines", b"a) = b"),
    "café".encode(),
]
NAMES = [*PLAIN, b"\xff\xe9", b"caf\xe9", b"\xa5\x5c", b"return\r", b"\r\n"]


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("locales")
    for name in ("en_US.ISO-8859-1", "zh_TW.BIG5"):
        source, charmap = name.split(".")
        subprocess.run(["localedef", "-i", source, "-f", charmap, folder / name], check=True)
    return folder


@pytest.fixture(params=LOCALES)
def variables(request: pytest.FixtureRequest, locales: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    return {**kept, **LOCALES[request.param], "LOCPATH": str(locales)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in NAMES:
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:  # noqa: PTH123
            file.write(name * 3)
    return tmp_path


def run(*command: bytes | str | Path, given: bytes = b"", **more: object) -> tuple[int, bytes, bytes]:
    if command[0] == "vyre":
        command = (sys.executable, "-m", *command)
    done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


def line(before: bytes, name: bytes, after: bytes) -> bytes:
    """A line with a name, by the rule that sha256sum documents."""
    kept = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return (b"" if kept == name else b"\\") + before + kept + after + b"\n"


def all_ok(names: list[bytes]) -> bytes:
    return b"".join(line(b"", name, b": OK") for name in names)


def test_lists_of_sha256sum_are_written_and_read_in_every_locale(tree, variables):
    names = sorted(NAMES)
    here = {"cwd": tree, "env": variables}
    made = {form: run("sha256sum", form, "--", *names, **here)[1] for form in ("--text", "--binary", "--tag")}
    # vyre writes what sha256sum writes, and reads all of its forms.
    assert run("vyre", "hash", "--alg", "sha256", *CPU, "--", *names, **here) == (0, made["--text"], b"")
    made["of Windows"] = made["--text"].replace(b"\n", b"\r\n")
    noted = b"# a note\n\n  # another\r\n \t\r\n" + b"\n".join(made.values()) + b"\n#"
    checked = run("vyre", "hash", "--alg", "sha256", "--check", "-", *CPU, given=noted, **here)
    assert checked == (0, all_ok(names * len(made)), b"")


def test_lists_of_b3sum_are_written_and_read_in_every_locale(tree, variables):
    names = sorted(PLAIN)
    here = {"cwd": tree, "env": variables}
    status, made, err = run("b3sum", "--", *names, **here)
    assert (status, err) == (0, b"")
    assert run("vyre", "hash", *CPU, "--", *names, **here) == (0, made, b"")
    # Later versions of b3sum have --tag.
    digests = {name: blake3.blake3(name * 3).hexdigest().encode() for name in names}
    tagged = b"".join(line(b"BLAKE3 (", name, b") = " + digest) for name, digest in digests.items())
    checked = run("vyre", "hash", "--check", "-", *CPU, given=made + tagged, **here)
    assert checked == (0, all_ok(names * 2), b"")


def test_names_and_patterns_are_bytes_in_every_locale(tree, variables):
    patterns = [b"\xff\xe9", "é".encode(), b"\xa5\x5c"]
    (tree / "patterns").write_bytes(b"\n".join(patterns))
    names = sorted([b"\xff\xe9", b"caf\xe9", "café".encode(), b"\xa5\x5c"])
    lines = [
        line(b"", name, b":1:%d: " % (at + 1) + each)
        for name in names
        for at in range(3 * len(name))
        for each in patterns
        if (name * 3).startswith(each, at)
    ]
    found = run("vyre", "scan", "--patterns", "patterns", *CPU, "--", *names, cwd=tree, env=variables)
    assert found == (1, b"".join(lines), b"")


def digest_of(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


@pytest.mark.parametrize("arguments", [(), ("-",), ("/dev/stdin",)])
def test_the_standard_input_is_hashed_as_sha256sum_does(arguments):
    data = bytes(range(256)) * 300
    found = run("vyre", "hash", "--alg", "sha256", *CPU, *arguments, given=data)
    assert found == run("sha256sum", *arguments, given=data)
    assert found[1].startswith(digest_of(data))


def test_the_standard_input_is_read_from_where_it_is(tmp_path):
    (tmp_path / "file").write_bytes(b"first\nsecond\n")
    shell = f"{{ read line; {sys.executable} -m vyre hash --alg sha256 --backend cpu; }} < file"
    assert run("bash", "-c", shell, cwd=tmp_path) == (0, digest_of(b"second\n") + b"  -\n", b"")


def test_pipes_that_are_named_are_read_one_after_the_other(tmp_path):
    """Each writer of a shell waits until its pipe is read; more is written than a pipe holds."""
    os.mkfifo(tmp_path / "pipe")
    shell = (
        "(head -c 300000 /dev/zero > pipe &); "
        f"exec {sys.executable} -m vyre hash --alg sha256 --backend cpu pipe <(printf abc) <(head -c 200000 /dev/zero)"
    )
    status, out, err = run("bash", "-c", shell, cwd=tmp_path)
    wanted = sorted(digest_of(data) for data in (b"abc", bytes(200_000), bytes(300_000)))
    assert (status, sorted(each[:64] for each in out.splitlines()), err) == (0, wanted, b"")


def test_a_list_may_name_the_standard_input_unless_it_is_there_itself(tmp_path):
    (tmp_path / "list").write_bytes(digest_of(b"abc") + b"  -\n")
    check = ("vyre", "hash", "--alg", "sha256", *CPU, "--check")
    assert run(*check, "list", given=b"abc", cwd=tmp_path) == (0, b"-: OK\n", b"")
    assert run(*check, "list", given=b"abd", cwd=tmp_path)[:2] == (1, b"-: FAILED\n")
    assert run(*check, "-", given=digest_of(b"") + b"  -\n") == (
        2,
        b"",
        b"error: line 1 of `-` is no digest and path. Fix: name a file with lines that `vyre hash` wrote.\n",
    )


def test_a_closed_standard_input_is_told():
    shell = f"exec {sys.executable} -m vyre hash --backend cpu <&-"
    fix = "Fix: name a file that can be read, or leave it out."
    assert run("bash", "-c", shell) == (1, b"", f"vyre hash: -: Bad file descriptor. {fix}\n".encode())


@pytest.mark.parametrize(
    "arguments", [("--patterns", "words"), ("--patterns", "words", "-"), ("--patterns", "-", "text")]
)
def test_scan_reads_the_standard_input(arguments, tmp_path):
    (tmp_path / "words").write_bytes(b"key=\r\n\r\n")
    (tmp_path / "text").write_bytes(b"\nmy key=1\n")
    is_list = "text" in arguments
    given = (tmp_path / ("words" if is_list else "text")).read_bytes()
    path = b"text" if is_list else b"-"
    assert run("vyre", "scan", *arguments, *CPU, given=given, cwd=tmp_path) == (1, path + b":2:4: key=\n", b"")


@pytest.mark.parametrize("patterns", ["-", "/dev/stdin"])
@pytest.mark.parametrize("paths", [(), ("-",), ("text", "-"), ("/dev/stdin",)])
def test_scan_reads_the_standard_input_once(patterns, paths):
    assert run("vyre", "scan", "--patterns", patterns, *paths, given=b"key=") == (
        2,
        b"",
        b"error: the standard input is read once. Fix: name a file with --patterns, or paths to search.\n",
    )


def write_pipes(folder: Path, contents: list[bytes]) -> list[Path]:
    """Named pipes, each with a thread that writes it when it is opened."""
    paths = [folder / f"pipe {k:02}" for k in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    return paths


@pytest.mark.parametrize("name", hashing.NAMES)
def test_pipes_of_all_sizes_have_the_right_digests(name, tmp_path):
    """Around the blocks and the pieces of SMALL, and beside a file that is read in pieces too."""
    sizes = [0, 1, 63, 64, 128, 1024, 4095, 4096, 4097, 8192, 9000, 9001, 20_000]
    contents = [bytes(k % 251 for k in range(size)) for size in sizes]
    paths = write_pipes(tmp_path, contents)
    (tmp_path / "z").write_bytes(contents[-1])
    paths, contents = [*paths, tmp_path / "z"], [*contents, contents[-1]]
    digests, troubles = hashing.digests_of(files_of(map(str, paths))[0], name, {"backend": "cpu"}, SMALL)
    assert troubles == []
    assert digests == {str(path): expected(name, data) for path, data in zip(paths, contents, strict=True)}


def test_pipes_are_searched_over_the_edges_of_pieces(tmp_path):
    contents = [b"x" * before + b"secret" for before in range(12)]
    paths = write_pipes(tmp_path, contents)
    found = searching.search(files_of(map(str, paths))[0], [b"secret"], {"backend": "cpu"}, searching.Limits(piece=7))
    assert [(each.path, each.offset) for each in found] == [(str(path), k) for k, path in enumerate(paths)]


def test_an_input_that_does_not_wait_is_read_to_its_end(monkeypatch):
    """What a program that shares it has made of it: Python's files take the pause for the end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, b"abc")
    waited = select.select

    def write_more(*files: object) -> object:
        os.write(writing, b"def")
        os.close(writing)
        monkeypatch.setattr(select, "select", waited)
        return waited(*files)

    monkeypatch.setattr(select, "select", write_more)
    with io.BufferedReader(_files._Waited(reading)) as stream:
        assert stream.read(1000) == b"abcdef"
