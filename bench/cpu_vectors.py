"""Times machine code of the cpu backend beside the interpreter, with the vectors that VYRE_INSTRUCTIONS names.

    VYRE_INSTRUCTIONS=sse41 python bench/cpu_vectors.py

Both engines take turns in one process, on arrays that stay on the backend; the least of many turns counts. Processor
time is what can be compared where other work shares the machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from tabulate import tabulate

import vyre
from cpu_compiles import INTERPRETED
from cpu_race import arx, mandelbrot, saxpy, xor
from vyre import _core
from vyre.std._sha256_pairs import hash_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

CPU = {"backend": "cpu"}
ROUNDS = 12
COLUMNS = ("row", "machine code, processor ms", "ms", "interpreter, processor ms", "ms", "by machine code")


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of a call: of processors, and on the clock."""
    start, of_processors = time.perf_counter(), time.process_time()
    call()
    return (time.process_time() - of_processors) * 1e3, (time.perf_counter() - start) * 1e3


def rows() -> dict[str, Callable[..., object]]:
    count, few = 1 << 22, 1 << 18
    words = np.random.default_rng(1).integers(0, 2**32, count, dtype=np.uint32)
    a, b, c = vyre.array(words, **CPU), vyre.array(words[::-1].copy(), **CPU), vyre.zeros(count, **CPU)
    given, out = vyre.array(words[:few], **CPU), vyre.zeros(few, **CPU)
    texts = vyre.array(words[: 4 * few].reshape(-1, 4), dtype=vyre.vec4u32, **CPU)
    starts = vyre.array(np.arange(0, 16 * few, 64, dtype=np.uint32), **CPU)
    digests, picture = vyre.zeros(few // 2, vyre.vec4u32, **CPU), vyre.zeros((512, 768), **CPU)
    return {
        "xor of 2^22 words": lambda **options: xor(a, b, c, **options),
        "saxpy of 2^22 words": lambda **options: saxpy(a, b, 3, c, **options),
        "256 rounds of ARX, 2^18 words": lambda **options: arx(given, out, **options),
        "SHA-256 of 2^16 messages of 64 bytes": lambda **options: hash_pairs(texts, starts, digests, **options),
        "mandelbrot 768 x 512": lambda **options: mandelbrot(picture, **options),
    }


def main() -> None:
    print(_core._devices("cpu")[0]["driver"])
    table = []
    for name, call in rows().items():
        engines: tuple[Callable[[], object], ...] = (call, lambda call=call: call(optimize=INTERPRETED))
        best = [(float("inf"), float("inf")) for _ in engines]
        for _ in range(3):  # the first calls compile
            call()
        for _ in range(ROUNDS):
            best = [(*map(min, least, timed(engine)),) for least, engine in zip(best, engines, strict=True)]
        (code, wall), (interpreted, its_wall) = best
        table.append([name, code, wall, interpreted, its_wall, interpreted / code])
    print(tabulate(table, COLUMNS, tablefmt="github", floatfmt=".4g"))


if __name__ == "__main__":
    main()
