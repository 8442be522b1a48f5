"""Times every call of vyre.std by size, on resident arrays, beside its peer of std_race.py; pictures.py draws them.

    python bench/std_families.py --backend cpu --to 22 --json bench/results/std/amd-epyc-2-cores.json

Of the cases that a family's file in `std/` has for a call, the first one counts. A size is the number that
``cases(size, place)`` takes: words, or four bytes each. A contender whose call takes a second is not run for larger
sizes.
"""

from __future__ import annotations

import argparse

import std_race
import vyre
from std_place import Place

OURS, PEER = "vyre, resident", "its peer"
LONG = 1.0  # seconds of a call from which on larger sizes are left out

Series = dict[str, dict[str, float]]  # who -> size -> seconds of a call


def measure(family: str, size: int, place: Place, found: dict[str, Series]) -> None:
    """Add the seconds of a family's calls for one size to those of smaller sizes."""
    seen = set()
    for case, ours, _, peer in std_race.cases(family, size, place):
        call = std_race.call_of(case)
        if call in seen:
            continue
        seen.add(call)
        for who, function in ((OURS, ours), (PEER, peer)):
            series = found.setdefault(call, {}).setdefault(who, {})
            if function is None or max(series.values(), default=0) > LONG:
                continue
            try:
                series[str(size)] = float(f"{std_race.seconds(function):.3g}")
            except vyre.VyreError as error:
                print(family, case, who, type(error).__name__, error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default=None)
    parser.add_argument("--device", type=int, default=None)
    parser.add_argument("--begin", type=int, default=10, help="the smallest size is 2 to the power of it")
    parser.add_argument("--to", type=int, default=26, help="the largest size is 2 to the power of it")
    parser.add_argument("--step", type=int, default=4, help="of the exponents")
    parser.add_argument("--machine", default="this machine", help="its name in the pictures")
    parser.add_argument("--json", required=True, help="a file for the figures")
    given = parser.parse_args()
    place = Place(given.backend, given.device)
    figures: dict[str, dict[str, Series]] = {family: {} for family in std_race.families()}
    for exponent in range(given.begin, given.to + 1, given.step):
        for family, found in figures.items():
            measure(family, 1 << exponent, place, found)
            std_race.write_json(given.json, {"machine": given.machine, "seconds": figures})
            print(f"{family} 2^{exponent} done", flush=True)


if __name__ == "__main__":
    main()
