"""Random kernels against Python itself, in several processes.

python tests/py/kernel/fuzz_kernels.py --count 10000                      wide kernels, a process for each processor
python tests/py/kernel/fuzz_kernels.py --first 0 --count 10000 --jobs 16  the seeds from 0 on, in place of random ones
python tests/py/kernel/fuzz_kernels.py --plain --count 10000              kernels of U32 alone, which are quicker
python tests/py/kernel/fuzz_kernels.py --backend cpu --backend vulkan     reference and cpu, if none is named

It needs vyre and numpy, and the folder that it lies in. A seed that differs is printed with its kernel when it is
found, and the exit status is 1. `--first SEED --count 1` runs one again.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from kernel_comparison import BACKENDS, compare, kept_sources

_SEEDS_AT_ONCE = 10


def differing(seeds: range, is_plain: bool, backends: list[str]) -> list[tuple[int, str]]:
    """The seeds of these whose kernels differ or raise, each with what was found."""
    found = []
    for seed in seeds:
        try:
            with kept_sources():
                compare(seed, backends, is_plain=is_plain)
        except AssertionError as error:
            found.append((seed, str(error)))
        except Exception:
            found.append((seed, traceback.format_exc()))
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, help="the first seed; a random one, which is printed, if left out")
    parser.add_argument("--count", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--plain", action="store_true", help="kernels of U32 and arrays of one axis alone")
    parser.add_argument("--backend", action="append", choices=sorted({*BACKENDS, "cuda", "vulkan"}))
    options = parser.parse_args(arguments)
    first = random.SystemRandom().randrange(2**40) if options.first is None else options.first
    backends, kind = options.backend or BACKENDS, "plain" if options.plain else "wide"
    print(f"{options.count} {kind} kernels from seed {first} on, in {options.jobs} processes", flush=True)
    seeds = range(first, first + options.count)
    parts = [seeds[k : k + _SEEDS_AT_ONCE] for k in range(0, len(seeds), _SEEDS_AT_ONCE)]
    work = functools.partial(differing, is_plain=options.plain, backends=backends)
    began, done, wrong = time.monotonic(), 0, 0
    # Processes of their own, because one that has run a device cannot be forked.
    with multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else _Here() as pool:
        for part, found in zip(parts, pool.imap(work, parts), strict=True):
            for seed, text in found:
                print(f"seed {seed}: {text}", flush=True)
            done, wrong = done + len(part), wrong + len(found)
            if done % 1000 == 0:
                print(f"{done} done in {time.monotonic() - began:.0f} s, {wrong} differ", flush=True)
    agreement = f"{options.count - wrong} agree on {', '.join(backends)}, {wrong} do not"
    print(f"{options.count} {kind} kernels from seed {first} on: {agreement}.")
    return 1 if wrong else 0


class _Here:
    """In place of a pool of processes: this one."""

    imap = map

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main())
