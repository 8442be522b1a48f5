"""Times every family of vyre.std on resident arrays and from numpy to numpy, beside what users would pick instead.

    python bench/std_race.py --backend vulkan cuda --size 28 --json race.json
    python bench/std_race.py --backend cuda --size 20 24 --modes resident numpy --first --seconds 0.05 --json race.json

Each family's file in `std/` has ``cases(size, place)``, which yields (name, call, amount, peer): a call on the place's
arrays (see std_place.py), what it moves or works on (bytes or items), and the peer's call or None. The best of several
rounds of calls counts; a round has as many calls as take about 0.2 s, and ends when the last result is there. Each call
of a millisecond and more is waited for. With several backends, the last table has a row for each call with the times of
all and the peer's, which is measured once. From numpy to numpy CuPy is measured with its copies; a peer on the
processor takes the same as before.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

import vyre
from std_place import MODES, OfCupy, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent / "std"
SECONDS = 0.2  # of a round
ROUNDS = 3
STEADY = 0.3  # seconds in which calls became no quicker: the clock of a GPU that was idle rises during the first ones
WARMING = 3.0  # seconds of calls before the rounds, at most
LONG = 1e-3  # seconds of a call from which on each is waited for
LIMIT = 10.0  # seconds from which on a call is made once
PROCESSOR: dict[tuple[str, int], float] = {}  # seconds of a peer by case and size: on a processor it has one mode
ENOUGH = 10  # times the seconds of a round, after which no round begins


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def cases(family: str, size: int, place: Place) -> Iterator[tuple[str, Any, float, Any]]:
    spec = importlib.util.spec_from_file_location(f"bench_std_{family}", FOLDER / f"{family}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from module.cases(size, place)


def call_of(case: str) -> str:
    """The call of vyre.std that a case times."""
    return case.split()[0].rstrip(",")


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


def once_of(call: Callable[[], Any]) -> float:
    """The seconds of one call and the wait for its result."""
    start = time.perf_counter()
    wait_for(call())
    return time.perf_counter() - start


def warmed(call: Callable[[], Any]) -> float:
    """The seconds of one call, after as many calls as it takes until they become no quicker."""
    begin = since = time.perf_counter()
    best = max(once_of(call), 1e-6)
    while time.perf_counter() - since < STEADY and time.perf_counter() - begin < WARMING:
        took = max(once_of(call), 1e-6)
        if took < 0.98 * best:
            since = time.perf_counter()
        best = min(best, took)
    return best


def seconds(call: Callable[[], Any], of_round: float = SECONDS) -> float:
    """Of one call, when many are made one after the other."""
    first = once_of(call)  # compiles and plans
    if first > LIMIT:
        return first
    best = once = warmed(call)
    begin = time.perf_counter()
    count = max(1, round(of_round / once))
    for _ in range(ROUNDS):
        if time.perf_counter() - begin > ENOUGH * of_round:
            break
        start = time.perf_counter()
        for _ in range(count):
            result = call()
            if once > LONG:  # memory of results comes back when the device is done with them
                wait_for(result)
        wait_for(result)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def raced(
    family: str, size: int, place: Place, *, with_peers: bool = True, first: bool = False, of_round: float = SECONDS
) -> Iterator[dict[str, Any]]:
    """Yields a row for each call of a family, and one with the error that ended them.

    Args:
        first: take the first case of each call alone.
        of_round: seconds of a round.
    """
    seen: set[str] = set()
    try:
        for name, call, amount, peer in cases(family, size, place):
            if first and call_of(name) in seen:
                continue
            seen.add(call_of(name))
            took = seconds(call, of_round)
            row = {"family": family, "case": name, "ms": took * 1e3, "G/s": amount / took / 1e9}
            if peer is not None and with_peers:
                row["peer"] = "CuPy" if isinstance(peer, OfCupy) else "processor"
                if isinstance(peer, OfCupy) or (name, size) not in PROCESSOR:
                    PROCESSOR[name, size] = seconds(peer, of_round)
                row["peer ms"] = PROCESSOR[name, size] * 1e3
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
    """One row for each call and size, with the milliseconds of each backend and mode, and of the peer."""
    calls: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in rows:
        key = row["family"], row["case"], row["size"]
        call = calls.setdefault(key, {"family": row["family"], "case": row["case"], "size": row["size"]})
        mode = "" if row["mode"] == MODES[0] else f" {row['mode']}"
        if "ms" in row:
            call[f"{row['backend']}{mode} ms"] = row["ms"]
        if "peer ms" in row:
            call[f"peer{mode} ms"] = row["peer ms"]
            call["peer"] = row["peer"]
    return list(calls.values())


def write_json(path: str, figures: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help=f"of {', '.join(families())}; all when none is named")
    parser.add_argument("--backend", nargs="+", default=[None], help="one after the other in each family")
    parser.add_argument("--device", type=int, default=None)
    parser.add_argument(
        "--size", nargs="+", type=int, default=[20], help="the number of elements is 2 to the power of it"
    )
    parser.add_argument(
        "--modes", nargs="+", choices=MODES, default=[MODES[0]], help="arrays of the device, or numpy's"
    )
    parser.add_argument("--first", action="store_true", help="the first case of each call alone")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a round takes; there are three")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--json", default=None, help="a file for the figures")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for family in given.families or families():
        for exponent, backend, mode in itertools.product(given.size, given.backend, given.modes):
            place = Place(backend, given.device, mode)
            options = {"first": given.first, "of_round": given.seconds}
            options["with_peers"] = not given.without_peers and backend == given.backend[0]
            for row in raced(family, 1 << exponent, place, **options):
                rows.append({"backend": backend or "default", "size": f"2^{exponent}", "mode": mode, **row})
                print(rows[-1]["backend"], rows[-1]["size"], mode, shown(row), flush=True)
            if given.json:
                write_json(given.json, rows)
    together = len(given.backend) > 1 or len(given.modes) > 1
    print(tabulate(side_by_side(rows) if together else rows, headers="keys", floatfmt=".3f"))


if __name__ == "__main__":
    main()
