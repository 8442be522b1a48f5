"""The demonstration hashes a tree as hashlib does, and says so when it does not."""

from __future__ import annotations

import pytest

from vyre.demo import tree
from vyre.demo.__main__ import main

# Around the edges of a block and of the block that the padding begins, and a file of several parts.
LENGTHS = [0, 1, 3, 54, 55, 56, 63, 64, 65, 119, 120, 500, tree.PART_BYTES - 5, tree.PART_BYTES, tree.PART_BYTES + 9]


@pytest.fixture
def folder(tmp_path, rng):
    for length in LENGTHS:
        (tmp_path / f"{length}").write_bytes(rng.bytes(length))
    return tmp_path


def test_every_file_has_the_digest_of_hashlib(folder, target):
    files = [tree.File(folder / str(length), length) for length in LENGTHS]
    assert all(not failed for _, failed in tree.hash_files(files, target["backend"], target.get("device")))
    assert [file.matches for file in files] == [True] * len(LENGTHS)


def test_a_check_finds_nothing_in_its_kernel(folder, monkeypatch):
    results = []

    def checked(*args, backend, device, **kwargs):
        results.append(tree_compress.check(*args, **kwargs))
        return tree_compress(*args, backend=backend, device=device, **kwargs)

    tree_compress = tree.compress
    monkeypatch.setattr(tree, "compress", checked)
    assert all(not failed for _, failed in tree.hash_files([tree.File(folder / "120", 120)], "cpu", None))
    assert [result.reports for result in results] == [()]


def test_the_command_counts_files_and_mismatches(folder, capsys):
    assert main([str(folder), "--backend", "cpu"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "device      cpu"
    assert said[2:4] == [f"files       {len(LENGTHS)}", f"bytes       {sum(LENGTHS):,}"]
    assert said[-1] == "0 mismatches"


def test_a_wrong_digest_is_a_mismatch(folder, capsys, monkeypatch):
    right = tree.compress
    monkeypatch.setattr(tree, "compress", lambda *args, **kwargs: right(*args, **kwargs) ^ 1)
    assert main([str(folder), "--backend", "cpu"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(LENGTHS)} mismatches"
