"""``vyre hash`` prints what sha256sum, b3sum and hashlib say, and holds no more in memory than its limits."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import zlib
from pathlib import Path

import blake3
import pytest
import xxhash

import vyre
from vyre.__main__ import main
from vyre._trees import hashing
from vyre._trees.walk import File, Trouble, files_of
from vyre.std._calls.running import padding
from vyre.std.hashes import ALGORITHMS

CPU = ("--backend", "cpu")
SMALL = hashing.Limits(batch=9000, piece=4096, files=3, together=2)
LEAVE_OUT = ". Fix: name a file that can be read, or leave it out.\n"


def crc32c(data: bytes) -> bytes:
    """RFC 3720, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "big")


def expected(name: str, data: bytes) -> bytes:
    if name == "blake3":
        return blake3.blake3(data).digest()
    if name in ("crc32", "adler32"):
        return getattr(zlib, name)(data).to_bytes(4, "big")
    if name.startswith("xxhash"):
        return getattr(xxhash, name.replace("hash", "h") + "_digest")(data)
    return crc32c(data) if name == "crc32c" else hashlib.new(name, data).digest()


SIZES = [0, 1, 55, 56, 64, 111, 112, 128, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 9000, 9001, 20000]


def told(ok: bool, algorithm: str, *files: dict[str, object], unreadable: tuple[dict[str, str], ...] = ()) -> dict:
    """What --json holds."""
    head = {"version": vyre.__version__, "command": "hash", "ok": ok, "algorithm": algorithm}
    return {**head, "files": [*files], "unreadable": [*unreadable]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files of sizes around the limits of SMALL, in folders, with names of all kinds."""
    root = tmp_path / "tree"
    (root / "sub" / "deep er").mkdir(parents=True)
    (root / "empty").mkdir()
    rng = random.Random(7)
    for k, size in enumerate(SIZES):
        place = (root, root / "sub", root / "sub" / "deep er")[k % 3]
        (place / f"file {k}").write_bytes(rng.randbytes(size))
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9\xff")).write_bytes(b"not UTF-8")
    (root / "back\\slash").write_bytes(b"b")
    (root / "two\nlines\r").write_bytes(b"n")
    (root / "link").symlink_to(root / "file 0")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    return root


def paths_below(root: Path) -> list[str]:
    """The regular files, as `find -type f` has them."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]  # noqa: PTH118
    return sorted((path for path in found if os.path.isfile(path) and not os.path.islink(path)), key=os.fsencode)  # noqa: PTH113, PTH114


def run(*arguments: str, cwd: Path | None = None) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "vyre", *arguments], capture_output=True, check=False, cwd=cwd, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(name: str, root: Path) -> bytes:
    """The whole output, made from hashlib's digests by the rule that sha256sum documents for names."""
    made = b""
    for path in paths_below(root):
        raw = os.fsencode(path)
        kept = raw.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        digest = expected(name, Path(path).read_bytes()).hex().encode()
        made += (b"" if kept == raw else b"\\") + digest + b"  " + kept + b"\n"
    return made


def test_a_tree_is_printed_as_sha256sum_does(tree):
    assert run("hash", str(tree), "--alg", "sha256", *CPU) == (0, lines_of("sha256", tree), b"")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum")
def test_sha256sum_accepts_the_list(tree, tmp_path):
    (tmp_path / "list").write_bytes(lines_of("sha256", tree))  # which is what the command prints
    done = subprocess.run(["sha256sum", "--check", "--strict", tmp_path / "list"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", hashing.NAMES)
def test_files_around_the_limits_have_the_right_digests(name, tree):
    files, troubles = files_of([str(tree)])
    done: list[int] = []
    digests, more = hashing.digests_of(files, name, {"backend": "cpu"}, SMALL, done.append)
    assert troubles + more == []
    assert digests == {path: expected(name, Path(path).read_bytes()) for path in paths_below(tree)}
    assert sum(done) == sum(file.size for file in files)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["md5", "sha256", "sha512", "sha3_256", "blake2b", "blake3", "crc32"])
def test_every_device_gives_the_right_digests(name, tree, target):
    files, _ = files_of([str(tree)])
    digests, troubles = hashing.digests_of(files, name, target, SMALL)
    assert troubles == []
    assert digests == {path: expected(name, Path(path).read_bytes()) for path in paths_below(tree)}


@pytest.mark.parametrize("name", ["blake3", "crc32", "sha256", "blake2b"])
def test_a_file_that_grows_while_it_is_read_has_the_digest_of_what_was_there(name, tmp_path):
    path, content = tmp_path / "log", random.Random(8).randbytes(2 * SMALL.piece + 100)
    path.write_bytes(content)
    done = []

    def grow(size: int) -> None:
        done.append(size)
        if sum(done) == len(content):
            with path.open("ab") as stream:
                stream.write(bytes(SMALL.piece))

    digests, troubles = hashing.digests_of(files_of([str(path)])[0], name, {"backend": "cpu"}, SMALL, grow)
    assert troubles == []
    assert digests == {str(path): expected(name, content)}
    assert path.stat().st_size == len(content) + SMALL.piece


@pytest.mark.parametrize("name", ALGORITHMS)
def test_padding_ends_a_block(name):
    algorithm = ALGORITHMS[name]
    for size in [*range(300), 2**32, 10 * 2**30 + 1]:
        end = padding(algorithm, size)
        assert (size + len(end)) % algorithm.block == 0
        assert len(end) <= algorithm.block + algorithm.length


def test_the_number_of_bits_of_more_than_512_mib_is_whole():
    """FIPS 180-4, section 5.1.1: 8 bytes, of which a length of 10 GiB needs five."""
    assert padding(ALGORITHMS["sha256"], 10 * 2**30) == b"\x80" + bytes(55) + (80 * 2**30).to_bytes(8, "big")


def test_a_file_and_its_folder_are_hashed_once(tree, capsysbinary):
    file = str(tree / "back\\slash")
    assert main(["hash", file, str(tree), str(tree), "--alg", "crc32", *CPU]) == 0
    assert capsysbinary.readouterr() == (lines_of("crc32", tree), b"")


def test_json_is_one_object(tree):
    status, out, err = run("hash", str(tree), "--json", "--alg", "md5", *CPU)
    rows = [{"path": path, "digest": expected("md5", Path(path).read_bytes()).hex()} for path in paths_below(tree)]
    assert (status, err) == (0, b"")
    assert json.loads(out) == told(True, "md5", *rows)


def test_what_cannot_be_read_is_told_and_the_rest_is_hashed(tmp_path, capsys):
    """As root everything can be read, so the files are ones that nobody can read."""
    (tmp_path / "a").write_bytes(b"abc")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    arguments = [str(tmp_path / each) for each in ("a", "gone", "socket")]
    digest = hashlib.sha1(b"abc").hexdigest()
    assert main(["hash", *arguments, "/proc/self/mem", "--alg", "sha1", *CPU]) == 1
    assert capsys.readouterr() == (
        f"{digest}  {tmp_path}/a\n",
        f"vyre hash: /proc/self/mem: Input/output error{LEAVE_OUT}"
        f"vyre hash: {tmp_path}/gone: No such file or directory{LEAVE_OUT}"
        f"vyre hash: {tmp_path}/socket: No such device or address{LEAVE_OUT}",
    )
    assert main(["hash", str(tmp_path / "gone"), "--json", *CPU]) == 1
    gone = {"path": f"{tmp_path}/gone", "why": "No such file or directory"}
    assert json.loads(capsys.readouterr().out) == told(False, "blake3", unreadable=(gone,))


@pytest.mark.parametrize("name", ["blake3", "sha256", "crc32", "blake2b"])
def test_a_file_that_vanishes_or_becomes_a_link_is_told(name, tree):
    files, _ = files_of([str(tree)])
    (small, large) = (next(file for file in files if file.size == size) for size in (64, 9000))
    Path(small.path).unlink()
    Path(large.path).unlink()
    Path(large.path).symlink_to(tree / "back\\slash")
    digests, troubles = hashing.digests_of(files, name, {"backend": "cpu"}, SMALL)
    assert sorted(troubles) == sorted(
        [Trouble(small.path, "No such file or directory"), Trouble(large.path, "Too many levels of symbolic links")]
    )
    left = [path for path in paths_below(tree) if path not in (small.path, large.path)]
    assert digests == {path: expected(name, Path(path).read_bytes()) for path in left}


@pytest.mark.parametrize("name", ["blake3", "sha256", "adler32"])
def test_a_file_that_grew_since_it_was_found_is_hashed_whole(name, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(random.Random(1).randbytes(10_000))
    found = [File(str(path), 5)]
    digests, troubles = hashing.digests_of(found, name, {"backend": "cpu"}, SMALL)
    assert (digests, troubles) == ({str(path): expected(name, path.read_bytes())}, [])


@pytest.mark.parametrize("name", ["blake2b", "blake2s", "xxhash32", "xxhash64"])
@pytest.mark.parametrize("size", [4097, 12_288, 12_289, 40_000, 2**20 + 5])
def test_files_of_several_pieces_end_in_any_of_them(name, size, tmp_path):
    """Pieces end where blocks end, of 16 to 128 bytes, and a file may end with one."""
    rng = random.Random(size)
    for k, by in enumerate((0, 1, -1, 64, 127)):
        (tmp_path / str(k)).write_bytes(rng.randbytes(size + by))
    files, _ = files_of([str(tmp_path)])
    for batch in (4096, 9000, 1 << 26):
        limits = hashing.Limits(batch=batch, piece=1024, files=3, together=4)
        digests, troubles = hashing.digests_of(files, name, {"backend": "cpu"}, limits)
        assert troubles == []
        assert digests == {file.path: expected(name, Path(file.path).read_bytes()) for file in files}


def test_a_list_is_checked_line_by_line(tree, tmp_path, monkeypatch):
    """One file changes, one goes, one is hashed in pieces; names of all kinds are read back."""
    listed = tmp_path / "list"
    listed.write_bytes(lines_of("sha256", tree))
    names = [line.split(b"  ", 1) for line in listed.read_bytes().splitlines()]
    written = [(b"\\" if digest.startswith(b"\\") else b"") + name for digest, name in names]
    assert run("hash", "--check", str(listed), "--alg", "sha256", *CPU) == (
        0,
        b"".join(name + b": OK\n" for name in written),
        b"",
    )
    assert run("hash", "--check", str(listed), "--alg", "sha256", "--quiet", *CPU) == (0, b"", b"")
    (tree / "file 0").write_bytes(b"changed")
    (tree / "file 3").unlink()
    changed, gone = str(tree / "file 0").encode(), str(tree / "file 3").encode()
    assert run("hash", "--check", str(listed), "--alg", "sha256", "--quiet", *CPU) == (
        1,
        changed + b": FAILED\n" + gone + b": FAILED open or read\n",
        b"vyre hash: " + gone + f": No such file or directory{LEAVE_OUT}".encode(),
    )


def test_a_list_of_sha256sum_with_a_star_and_upper_case_is_read(tmp_path, capsys):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "list").write_text(f"{hashlib.sha256(b'abc').hexdigest().upper()} *{tmp_path}/a\n", encoding="utf-8")
    assert main(["hash", "--check", str(tmp_path / "list"), "--alg", "sha256", "--json", *CPU]) == 0
    assert json.loads(capsys.readouterr().out) == told(True, "sha256", {"path": f"{tmp_path}/a", "ok": True})


def test_a_folder_in_a_list_is_no_file(tmp_path, capsys):
    (tmp_path / "list").write_text(f"{'00' * 32}  {tmp_path}\n", encoding="utf-8")
    assert main(["hash", "--check", str(tmp_path / "list"), *CPU]) == 1
    said = f"vyre hash: {tmp_path}: Is a directory{LEAVE_OUT}"
    assert capsys.readouterr() == (f"{tmp_path}: FAILED open or read\n", said)


@pytest.mark.parametrize(
    ("arguments", "status", "problem", "fix"),
    [
        (("x", "--check", "y"), 2, "`vyre hash` takes paths or --check FILE", "write one of the two"),
        (
            ("x", "--alg", "sha0"),
            2,
            f"--alg must be one of {', '.join(hashing.NAMES)}, got 'sha0'",
            "write one of these (did you mean `sha1`?)",
        ),
        (
            ("--check", "/nonexistent/list"),
            2,
            "`/nonexistent/list` cannot be read: No such file or directory",
            "name a file with lines that `vyre hash` wrote",
        ),
        (
            ("x", "--backend", "cpu", "--device", "0"),
            3,
            "there is no device 0: backend cpu has none",
            "leave --device out",
        ),
    ],
)
def test_a_wrong_request_is_one_sentence(arguments, status, problem, fix, refuses):
    refuses(["hash", *arguments], problem, fix, status)


@pytest.mark.parametrize(
    "line",
    [
        *("abc", "00 x", "0g  x", "  x", "00  "),
        # An escape that no list has, half a one, an algorithm that is unknown, and a path that has no end.
        *("\\00  a\\x", "\\00  a\\", "WHIRLPOOL (x) = 00", "BLAKE3 (x = 00", "BLAKE3 () = 00", "\\BLAKE3 (\\) = 00"),
    ],
)
def test_a_list_with_another_line_is_refused(line, tmp_path, refuses):
    path = tmp_path / "list"
    path.write_text(f"{'00' * 32}  x\n{line}\n", encoding="utf-8")
    refuses(
        ["hash", "--check", str(path), *CPU],
        f"line 2 of `{path}` is no digest and path",
        "name a file with lines that `vyre hash` wrote",
    )


@pytest.mark.parametrize("content", ["", "\n", "# none\r\n \t\r\n"])
def test_a_list_without_digests_is_refused(content, tmp_path, capsys):
    path = tmp_path / "list"
    path.write_text(content, encoding="utf-8")
    assert main(["hash", "--check", str(path), *CPU]) == 2
    said = f"error: `{path}` has no digests. Fix: name a file with lines that `vyre hash` wrote.\n"
    assert capsys.readouterr() == ("", said)


def test_a_list_that_names_another_algorithm_is_refused_with_it(tmp_path, capsys, refuses):
    (tmp_path / "a").write_bytes(b"abc")
    path = tmp_path / "list"
    for tag, name in (("SHA3-256", "sha3_256"), ("BLAKE2s", "blake2s"), ("MD5", "md5")):
        path.write_text(f"{tag} ({tmp_path}/a) = {expected(name, b'abc').hex()}\n", encoding="utf-8")
        refuses(
            ["hash", "--check", str(path), *CPU],
            f"line 1 of `{path}` has a digest of {name}, and --alg is blake3",
            f"name the algorithm that made the list with --alg: {name}",
        )
        assert main(["hash", "--check", str(path), "--alg", name, *CPU]) == 0
        assert capsys.readouterr() == (f"{tmp_path}/a: OK\n", "")


@pytest.mark.parametrize(
    ("digest", "name", "problem", "fix"),
    [
        (
            hashlib.sha256(b"abc").hexdigest(),
            "md5",
            "has a digest of 64 digits, and md5 has 32",
            "name the algorithm that made the list with --alg: sha256, sha3_256, blake2s or blake3",
        ),
        (
            hashlib.md5(b"abc").hexdigest(),
            "blake3",
            "has a digest of 32 digits, and blake3 has 64",
            "name the algorithm that made the list with --alg: md5",
        ),
        (
            "00" * 33,
            "sha1",
            "has a digest of 66 digits, and sha1 has 40",
            "name a file with lines that `vyre hash` wrote",
        ),
    ],
)
def test_a_digest_of_another_length_is_refused_with_the_algorithms_that_have_it(
    digest, name, problem, fix, tmp_path, refuses
):
    (tmp_path / "a").write_bytes(b"abc")
    listed = tmp_path / "list"
    right = expected(name, b"abc").hex()
    listed.write_text(f"{right}  {tmp_path}/a\n{digest}  {tmp_path}/a\n", encoding="utf-8")
    refuses(["hash", "--check", str(listed), "--alg", name, *CPU], f"line 2 of `{listed}` {problem}", fix)


def test_a_list_of_another_algorithm_is_asked_for_where_every_file_failed(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    listed = tmp_path / "list"
    lines = [f"{hashlib.sha256(name.encode()).hexdigest()}  {tmp_path}/{name}\n" for name in ("a", "b")]
    listed.write_text("".join(lines), encoding="utf-8")
    assert main(["hash", "--check", str(listed), *CPU]) == 1
    assert capsys.readouterr() == (
        f"{tmp_path}/a: FAILED\n{tmp_path}/b: FAILED\n",
        "vyre hash: no file has the blake3 digest that the list gives. "
        "Fix: if another algorithm made the list, name it with --alg: sha256, sha3_256 or blake2s.\n",
    )
    assert main(["hash", "--check", str(listed), "--alg", "sha256", *CPU]) == 0
    assert capsys.readouterr() == (f"{tmp_path}/a: OK\n{tmp_path}/b: OK\n", "")
    (tmp_path / "b").write_text("changed", encoding="utf-8")
    assert main(["hash", "--check", str(listed), "--alg", "sha256", *CPU]) == 1
    assert capsys.readouterr() == (f"{tmp_path}/a: OK\n{tmp_path}/b: FAILED\n", "")


def test_another_algorithm_is_not_asked_for_where_none_has_digests_of_the_length(tmp_path, capsys):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "list").write_text(f"{'0' * 32}  {tmp_path}/a\n", encoding="utf-8")
    assert main(["hash", "--check", str(tmp_path / "list"), "--alg", "md5", *CPU]) == 1
    assert capsys.readouterr() == (f"{tmp_path}/a: FAILED\n", "")


@pytest.mark.parametrize("name", hashing.NAMES)
def test_the_length_of_each_digest_is_known(name):
    assert hashing.DIGESTS[name] == len(expected(name, b""))


def test_every_name_of_help_is_an_algorithm(capsys):
    assert main(["hash", "--alg", "help"]) == 0
    assert capsys.readouterr().out.split() == list(hashing.NAMES)


def updated(name, path):
    """The digest of a file that hashlib, zlib and others read in pieces."""
    made = xxhash.xxh64() if name == "xxhash64" else xxhash.xxh32() if name == "xxhash32" else hashlib.new(name)
    with path.open("rb") as stream:
        while data := stream.read(1 << 24):
            made.update(data)
    return made.digest()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blake2b", "blake2s", "xxhash32", "xxhash64"])
def test_a_file_of_more_than_4_gib_has_the_right_digest(name, tmp_path):
    """Lengths of more than 32 bits are in the digests. The file has holes, and so takes no place on the disk."""
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.write(b"begin")
        stream.seek(2**32 - 3)
        stream.write(b"around 2^32")
        stream.seek(2**32 + 2**20 + 12_345)
        stream.write(b"end")
    digests, troubles = hashing.digests_of(files_of([str(path)])[0], name, {"backend": "cpu"})
    assert troubles == []
    assert digests == {str(path): updated(name, path)}
