"""Times every family of vyre.std on resident arrays, beside what users would pick instead.

    python bench/std_race.py --backend vulkan --size 28 --json race.json

Each family's file in `std/` has ``cases(size, **where)``, which yields (name, call, amount, peer): a call on
resident arrays, what it moves or works on (bytes or items), and the peer's call or None. The best of several rounds of
calls counts; a round has as many calls as take about 0.2 s, and ends when the last result is there. Each call of a
millisecond and more is waited for.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

import vyre

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent / "std"
SECONDS = 0.2  # of a round
ROUNDS = 3
LONG = 1e-3  # seconds of a call from which on each is waited for
LIMIT = 10.0  # seconds that a case may take in all


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def cases(family: str, size: int, where: dict[str, Any]) -> Iterator[tuple[str, Any, float, Any]]:
    spec = importlib.util.spec_from_file_location(f"bench_std_{family}", FOLDER / f"{family}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from module.cases(size, **where)


def wait_for(result: Any) -> None:
    """Wait for what a call has given: resident arrays, or those of a peer on the same GPU."""
    for each in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(each, vyre.Array):
            each.wait()
            return
    if type(result).__module__.partition(".")[0] == "cupy" or (
        isinstance(result, tuple) and result and type(result[0]).__module__.partition(".")[0] == "cupy"
    ):
        import cupy

        cupy.cuda.Device().synchronize()


def seconds(call: Callable[[], Any]) -> float:
    """Of one call, when many are made one after the other."""
    begin = time.perf_counter()
    wait_for(call())  # compiles and plans
    if time.perf_counter() - begin > LIMIT:
        return time.perf_counter() - begin
    start = time.perf_counter()
    wait_for(call())
    once = max(time.perf_counter() - start, 1e-6)
    best = once
    count = max(1, round(SECONDS / once))
    for _ in range(ROUNDS):
        if time.perf_counter() - begin > LIMIT:
            break
        start = time.perf_counter()
        for _ in range(count):
            result = call()
            if once > LONG:  # memory of results comes back when the device is done with them
                wait_for(result)
        wait_for(result)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help=f"of {', '.join(families())}; all when none is named")
    parser.add_argument("--backend", default=None)
    parser.add_argument("--device", type=int, default=None)
    parser.add_argument("--size", type=int, default=20, help="the number of elements is 2 to the power of it")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--json", default=None, help="a file for the figures")
    given = parser.parse_args()
    where = {"backend": given.backend, "device": given.device}
    rows: list[dict[str, Any]] = []
    for family in given.families or families():
        try:
            for name, call, amount, peer in cases(family, 1 << given.size, where):
                took = seconds(call)
                row = {"family": family, "case": name, "ms": took * 1e3, "G/s": amount / took / 1e9}
                if peer is not None and not given.without_peers:
                    row["peer ms"] = seconds(peer) * 1e3
                    row["peer's time by ours"] = row["peer ms"] / row["ms"]
                rows.append(row)
                print(
                    f"{family:12} {name:40} {row['ms']:10.3f} ms {row['G/s']:10.2f} G/s",
                    *([f"peer {row['peer ms']:10.3f} ms"] if "peer ms" in row else []),
                    flush=True,
                )
        except vyre.VyreError as error:
            rows.append({"family": family, "case": f"ended: {type(error).__name__}: {error}"})
            print(family, rows[-1]["case"], flush=True)
    print(tabulate(rows, headers="keys", floatfmt=".3f"))
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
