"""Threads use all devices of this machine at the same time: every device does its own work, with its own arrays."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pytest

import vyre
from places import PLACES, name_of
from threads import in_threads
from vyre import InOut, std, u32

ELEMENTS, TURNS = 10_000, 25


@vyre.kernel
def stir(x: InOut[u32], salt: u32):
    i = vyre.gid(0)
    if i < len(x):
        x[i] = (x[i] ^ salt) * 0x9E3779B1 + vyre.rotl(x[i], 7)


def stirred(x: np.ndarray, salt: int) -> np.ndarray:
    return (x ^ np.uint32(salt)) * np.uint32(0x9E3779B1) + (x << np.uint32(7) | x >> np.uint32(25))


def worked_on(place: tuple[str, int | None], number: int, start: threading.Barrier) -> list[int]:
    """Stirs an array of that place, sorts it and reads its checksum in turns, beside all other places."""
    backend, device = place
    where = {"backend": backend, "device": device}
    x = vyre.array(np.arange(ELEMENTS, dtype=np.uint32) * np.uint32(number + 1), **where)
    found = []
    start.wait()
    for turn in range(TURNS):
        stir(x, number * TURNS + turn)
        x = std.sort(x)
        found.append(int(std.crc32(x.view(np.uint8))))
    return found


def expected(number: int) -> list[int]:
    x = np.arange(ELEMENTS, dtype=np.uint32) * np.uint32(number + 1)
    found = []
    for turn in range(TURNS):
        x = np.sort(stirred(x, number * TURNS + turn))
        found.append(zlib.crc32(x.tobytes()))
    return found


DEVICES = [place for place in PLACES if place[0] != "reference"]


@pytest.mark.skipif(len(DEVICES) < 2, reason="needs two devices")
def test_all_devices_work_at_once_and_none_sees_the_others_bytes():
    start = threading.Barrier(len(DEVICES))
    found: dict[str, list[int] | Exception] = {}

    def run(number: int) -> None:
        name = name_of(DEVICES[number])
        try:
            found[name] = worked_on(DEVICES[number], number, start)
        except Exception as error:
            found[name] = error
            start.abort()

    in_threads(run, range(len(DEVICES)))
    assert found == {name_of(place): expected(number) for number, place in enumerate(DEVICES)}
