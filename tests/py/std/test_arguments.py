"""Arguments that a first user of vyre.std passes by mistake, and the Fix of each, applied."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import In, std, u32
from wrong_calls import wrong_calls


@vyre.kernel
def doubled(x: In[u32], y: vyre.Out[u32]) -> None:
    i = vyre.gid(0)
    y[i] = x[i] * 2


def message(call: Any) -> str:
    with pytest.raises(vyre.BindingError) as caught:
        call()
    return str(caught.value)


def test_an_array_of_a_procedure_is_told_to_stay_in_its_body() -> None:
    kept: list[Any] = []

    @vyre.procedure
    def leaking(x: In[u32]) -> Any:
        kept.append(x)
        return std.sort(x)

    assert leaking(np.array([2, 1], np.uint32), backend="cpu").tolist() == [1, 2]
    assert message(lambda: std.cumsum(kept[0])) == (
        "argument `x` of vyre.std.cumsum stands in the body of a procedure, and the call cannot be a step. "
        "Fix: call it outside of the procedure, before or after, on a numpy array or a vyre.Array."
    )


def test_bytes_of_a_procedure_are_told_to_be_hashed_outside() -> None:
    @vyre.procedure
    def hashed(x: In[vyre.u8]) -> Any:
        return std.sha256(x)

    assert message(lambda: hashed(np.ones(3, np.uint8))) == (
        "argument `data` of vyre.std.sha256 stands in the body of a procedure, and the call cannot be a step. "
        "Fix: call it outside of the procedure, before or after, on a numpy array or a vyre.Array."
    )


def test_a_call_of_the_library_after_a_procedure_gives_its_result() -> None:
    @vyre.procedure
    def first(x: In[u32]) -> Any:
        y = vyre.scratch(u32, x.length)
        doubled(x, y, grid=x.length)
        return y

    assert std.cumsum(first(np.arange(5, dtype=np.uint32))).tolist() == [0, 2, 6, 12, 20]
    with vyre.graph() as graph:
        sums = std.cumsum(first(vyre.arange(5)))
    graph.replay()
    assert sums.numpy().tolist() == [0, 2, 6, 12, 20]


def test_a_file_and_a_path_are_told_how_to_be_read(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert message(lambda: std.sha256(path)) == (
        "argument `data` of vyre.std.sha256 must be bytes or an array of uint8, got an object of type "
        f"{type(path).__name__}. "
        f"Fix: pass bytes or an array of uint8."
    )
    with path.open("rb") as file:
        assert message(lambda: std.crc32(file)) == (
            "argument `data` of vyre.std.crc32 must be bytes or an array of uint8, got an object of type "
            "BufferedReader. "
            "Fix: pass bytes or an array of uint8."
        )
        assert std.sha256(path.read_bytes()) == std.sha256(file.read()) == hashlib.sha256(b"abc").digest()


@pytest.mark.parametrize("name", ["sum", "max", "argmin", "reduce", "cumsum", "scan"])
def test_a_wrong_call_is_named_as_users_import_it(name: str) -> None:
    with pytest.raises(vyre.CallError) as caught:
        getattr(std, name)(np.ones((2, 2), np.uint32), axis=0)
    said = str(caught.value)
    assert said.startswith(f"vyre.std.{name}() has no argument `axis`. Fix: write vyre.std.{name}(x, ")


@pytest.mark.parametrize("name", ["sort", "cumsum", "sum", "bincount", "unique"])
def test_a_wrong_place_is_told_of_the_call_that_was_made(name: str) -> None:
    x = np.array([2, 1], np.uint32)
    with pytest.raises(vyre.ArgumentError) as caught:
        getattr(std, name)(x, backend="gpu")
    assert str(caught.value).startswith(f"argument `backend` of vyre.std.{name} must be one of ")
    with pytest.raises(vyre.ArgumentError) as caught:
        getattr(std, name)(x, device="cpu")
    assert str(caught.value) == (
        f"argument `device` of vyre.std.{name} must be an index into vyre.devices(), or one of its elements, got "
        "'cpu'. "
        f"Fix: pass an index into vyre.devices(), or one of its elements."
    )
    getattr(std, name)(x, backend="cpu")


test_wrong_arguments_are_told = wrong_calls("arguments", globals())
