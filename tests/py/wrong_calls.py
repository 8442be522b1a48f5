"""Reads std/wrong_calls.txt, the table of calls of the library that are refused."""

from __future__ import annotations

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

TABLE = Path(__file__).with_name("std") / "wrong_calls.txt"


def wrong_calls(section: str, names: dict[str, Any]) -> Callable[..., None]:
    """A test of each call of a section: its error, and what is true where the Fix is followed.

    Args:
        names: the names of a module that the calls use, beside those of numpy, vyre and hashlib.
    """
    lines = TABLE.read_text(encoding="utf-8").split(f"\n== {section}\n")[1].split("\n\n")[0]
    rows = [row.split("\n  ") for row in re.split(r"\n(?! )", lines.rstrip("\n"))]
    given = [row[0] for row in rows if len(row) == 1]
    rows = [row for row in rows if len(row) > 1]

    @pytest.mark.parametrize("row", rows, ids=range(len(rows)))
    def test(row: list[str]) -> None:
        scope = {"hashlib": hashlib, "np": np, "std": std, "vyre": vyre, **names}
        exec("\n".join(given), scope)
        call, wanted, *right = row
        with pytest.raises(vyre.VyreError) as caught:
            eval(call, scope)
        said = f"{caught.type.__name__}: {caught.value}"
        assert " Fix: " in said
        assert said == wanted or said.partition(" Fix: ")[0] == wanted
        for each in right:
            assert eval(each, scope), each

    return test
