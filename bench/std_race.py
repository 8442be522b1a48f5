"""Times every family of vyre.std on resident arrays, beside what users would pick instead.

    python bench/std_race.py --backend vulkan cuda --size 28 --json race.json

Each family's file in `std/` has ``cases(size, **where)``, which yields (name, call, amount, peer): a call on
resident arrays, what it moves or works on (bytes or items), and the peer's call or None. The best of several rounds of
calls counts; a round has as many calls as take about 0.2 s, and ends when the last result is there. Each call of a
millisecond and more is waited for. With several backends, the last table has a row for each call with the times of all
and the peer's, which is measured once.
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


def raced(family: str, size: int, where: dict[str, Any], with_peers: bool) -> Iterator[dict[str, Any]]:
    """Yields a row for each call of a family, and one with the error that ended them."""
    try:
        for name, call, amount, peer in cases(family, size, where):
            took = seconds(call)
            row = {"family": family, "case": name, "ms": took * 1e3, "G/s": amount / took / 1e9}
            if peer is not None and with_peers:
                row["peer ms"] = seconds(peer) * 1e3
                row["peer's time by ours"] = row["peer ms"] / row["ms"]
            yield row
    except vyre.VyreError as error:
        yield {"family": family, "case": f"ended: {type(error).__name__}: {error}"}


def shown(row: dict[str, Any]) -> str:
    if "ms" not in row:
        return f"{row['family']} {row['case']}"
    peer = f" peer {row['peer ms']:10.3f} ms" if "peer ms" in row else ""
    return f"{row['family']:12} {row['case']:40} {row['ms']:10.3f} ms {row['G/s']:10.2f} G/s{peer}"


def side_by_side(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each call, with the milliseconds of each backend and of the peer."""
    calls: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        call = calls.setdefault((row["family"], row["case"]), {"family": row["family"], "case": row["case"]})
        if "ms" in row:
            call[f"{row['backend']} ms"] = row["ms"]
        if "peer ms" in row:
            call["peer ms"] = row["peer ms"]
    return list(calls.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help=f"of {', '.join(families())}; all when none is named")
    parser.add_argument("--backend", nargs="+", default=[None], help="one after the other in each family")
    parser.add_argument("--device", type=int, default=None)
    parser.add_argument("--size", type=int, default=20, help="the number of elements is 2 to the power of it")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--json", default=None, help="a file for the figures")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for family in given.families or families():
        for backend in given.backend:
            where = {"backend": backend, "device": given.device}
            with_peers = not given.without_peers and backend == given.backend[0]
            for row in raced(family, 1 << given.size, where, with_peers):
                rows.append({"backend": backend or "default", **row})
                print(rows[-1]["backend"], shown(row), flush=True)
    print(tabulate(rows if len(given.backend) == 1 else side_by_side(rows), headers="keys", floatfmt=".3f"))
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
