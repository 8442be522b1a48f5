"""Reads the tables of calls that are refused: wrong_calls.txt in std, arrays, run and tools."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import std

if TYPE_CHECKING:
    from collections.abc import Callable


def wrong_calls(section: str, names: dict[str, Any]) -> Callable[..., None]:
    """A test of each call of a section: its error, and what is true where the Fix is followed.

    Args:
        names: the names of a module that the calls use, beside those of numpy, vyre and hashlib.
    """
    tables = [folder / "wrong_calls.txt" for folder in Path(names["__file__"]).parents]
    table = next(path for path in tables if path.exists())
    lines = table.read_text(encoding="utf-8").split(f"\n== {section}\n")[1].split("\n\n")[0]
    rows = [row.split("\n  ") for row in re.split(r"\n(?! )", lines.rstrip("\n"))]
    alone = [row[0] for row in rows if len(row) == 1]
    given, after = ([each for each in alone if each.startswith("assert ") == late] for late in (False, True))
    rows = [row for row in rows if len(row) > 1]

    @pytest.mark.parametrize("row", rows, ids=range(len(rows)))
    def test(row: list[str]) -> None:
        scope = {"base64": base64, "hashlib": hashlib, "np": np, "std": std, "vyre": vyre, **names}
        with vyre.default_device("cpu"):
            exec("\n".join(given), scope)
            call, wanted, *right = row
            with pytest.raises(Exception) as caught:
                eval(call, scope)
            for each in right:
                assert eval(each, scope), each
            exec("\n".join(after), scope)
        said = f"{caught.type.__name__}: {caught.value}"
        assert " Fix: " in said
        assert said == wanted or said.partition(" Fix: ")[0] == wanted
        assert caught.type is not vyre.CallError or caught.value.__cause__ is caught.value.__context__ is None

    return test
