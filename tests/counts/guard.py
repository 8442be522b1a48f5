"""The guard against slowness: counts the instructions of the host path under callgrind and compares them with a record.

    python tests/counts/guard.py PROGRAM             exit status 1 when something got slower
    python tests/counts/guard.py PROGRAM --record    writes the record anew (make bench-record)

Nothing is timed, so how busy the machine is does not matter. A count is the same on every machine with one compiler:
valgrind shows programs a processor of its own, the C library is told to use no instructions beyond those of every
x86-64, the cpu backend likewise, the environment is empty, and addresses are fixed. Calls from Python are counted
within vyre's module alone. Another compiler or Python makes other instructions: then the counts are left alone, and
what grows with the program is looked at all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).with_name("counts.json")
MARGIN = 0.10
# Instructions a node may grow by this much from the smallest program of a stage to its largest: linear, and no more.
GROWTH = 1.25
# From how many nodes on growth is looked at: below, what a call costs at all weighs too much.
FROM_NODES = 2_000
SKIPPED = 77
ANEW = "make bench-record"

# What the C library would otherwise do by the processor that it finds (memcpy and its like), or by what was freed
# before: one allocation in a thousand tidies up after all of them, and which one it is would decide a tenth of a count.
TUNABLES = {
    "glibc.cpu.hwcaps": "-AVX2,-AVX,-BMI2,-ERMS,-FSRM,-SSE4_2,-SSSE3",
    "glibc.malloc.mxfast": "0",
    "glibc.malloc.mmap_threshold": "1073741824",
    "glibc.malloc.trim_threshold": "4294967296",
    "glibc.malloc.top_pad": "67108864",
}
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "0",
    "GLIBC_TUNABLES": ":".join(f"{name}={value}" for name, value in TUNABLES.items()),
}


class GuardError(Exception):
    """Why nothing could be counted."""


@dataclass(frozen=True)
class Verdict:
    """What is too slow, one line each, and what else is worth saying."""

    failures: list[str]
    notes: list[str]


def own_cost(lines: Iterator[str], module: str) -> int:
    """Instructions of the functions of one shared object, those that they call elsewhere left out.

    From a dump of callgrind: `ob=(3) path` or `ob=(3)` says where the functions below lie, a line of numbers what is
    spent there, and one such line behind `calls=` what a call costs, which is counted where it is spent.
    """
    names: dict[str, str] = {}
    inside, total = False, 0
    for line in lines:
        if found := re.match(r"c?ob=(\(\d+\))(?: (.+))?", line):
            if found[2]:
                names[found[1]] = found[2]
            if not line.startswith("c"):
                inside = Path(names[found[1]]).name == module
        elif line.startswith("calls="):
            next(lines)
        elif inside and re.match(r"[+*\-\d]", line):
            total += int(line.split()[-1])
    return total


def counted(valgrind: str, program: list[str], module: str = "") -> dict[str, int]:
    """Case -> instructions, from one run under callgrind; those of one shared object when it is named."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        command = [valgrind, "--tool=callgrind", "--instr-atstart=no", "--dump-line=no", f"--callgrind-out-file={out}"]
        environment = ENVIRONMENT | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        done = subprocess.run([*command, *program], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise GuardError(
                f"{program[0]} ended with {done.returncode} under valgrind. Fix: see below.\n{done.stderr}"
            )
        counts = {}
        for part in sorted(Path(folder).iterdir(), key=lambda path: int(path.suffix[1:] or 0)):
            text = part.read_text(encoding="utf-8")
            name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
            if name and total:
                counts[name[1]] = own_cost(iter(text.splitlines()), module) if module else int(total[1])
        return counts


def compare(counts: dict[str, int], record: dict[str, int], *, whole: bool = True) -> Verdict:
    """Counts beside those on record. ``whole``: a case on record that was not counted is a failure."""
    failures, notes = [], []
    for name, count in counts.items():
        if name not in record:
            failures.append(f"{name}: {count:,} instructions, none on record. Fix: {ANEW}")
            continue
        change = count / record[name] - 1
        line = f"{name}: {count:,} instructions, {record[name]:,} on record ({100 * change:+.1f} %)"
        if count > record[name] * (1 + MARGIN):
            failures.append(
                f"{line}: more than {100 * MARGIN:.0f} % slower. "
                f"Fix: find what was added (callgrind_annotate), or write the record anew with `{ANEW}` and say why."
            )
        elif count < record[name] * (1 - MARGIN):
            notes.append(f"{line}: faster; `{ANEW}` keeps it so.")
    if whole:
        failures += [f"{name}: on record, but no longer counted. Fix: {ANEW}" for name in record if name not in counts]
    return Verdict(failures, notes)


def growth(counts: dict[str, int]) -> Verdict:
    """Whether instructions a node stay what they are while programs grow: linear, said with counts instead of times."""
    stages: dict[str, dict[int, float]] = {}
    for name, count in counts.items():
        stage, _, nodes = name.rpartition(" ")
        if nodes.isdecimal() and int(nodes) >= FROM_NODES and " " not in stage:
            stages.setdefault(stage, {})[int(nodes)] = count / int(nodes)
    failures, notes = [], []
    for stage, costs in stages.items():
        if len(costs) < 2:
            continue
        small, large = min(costs), max(costs)
        line = (
            f"{stage}: {costs[small]:,.0f} instructions a node at {small:,} nodes, {costs[large]:,.0f} at {large:,} "
            f"({costs[large] / costs[small]:.2f} times)"
        )
        if costs[large] > GROWTH * costs[small]:
            failures.append(f"{line}: more than linear. Fix: find what is done again for each node.")
        else:
            notes.append(line)
    return Verdict(failures, notes)


def written(record: dict) -> str:
    """The record as it lies in the tree."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Count, then compare or record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM", help="build/dev/tests/counts/vyre_counts")
    parser.add_argument("--valgrind", default="valgrind")
    parser.add_argument("--marks", help="the library with callgrind's marks: counts the Python module's calls too")
    parser.add_argument("--compiler", help="its name and version; counts of another are not compared")
    parser.add_argument("--only", metavar="CASE", help="count this one alone")
    parser.add_argument("--twice", metavar="CASE", help="plant a case that does its work twice")
    parser.add_argument("--record", action="store_true", help="write the record instead of comparing with it")
    options = parser.parse_args(argv)

    chosen = [
        argument for name in ("only", "twice") if (value := getattr(options, name)) for argument in (f"--{name}", value)
    ]
    try:
        counts = counted(options.valgrind, [options.program, *chosen])
        if options.marks:
            calls = [sys.executable, str(RECORD.with_name("calls.py")), options.marks, *chosen]
            counts |= counted(options.valgrind, calls, module="_core.so")
    except GuardError as error:
        sys.exit(f"counts: {error}")
    compiler = f"{options.compiler}, Python {platform.python_version().rpartition('.')[0]}"
    if options.record:
        RECORD.write_text(written({"built with": compiler, "instructions": counts}), encoding="utf-8")
        print(f"counts: {len(counts)} cases written to {RECORD.name}")
        return 0

    record = json.loads(RECORD.read_text(encoding="utf-8"))
    verdicts = [growth(counts)]
    same_compiler = options.compiler is None or compiler == record["built with"]
    if same_compiler:
        verdicts.append(compare(counts, record["instructions"], whole=not options.only))
    else:
        print(f"counts: not compared: this is {compiler}, the record is of {record['built with']}")
    for verdict in verdicts:
        for line in verdict.notes + verdict.failures:
            print(line)
    if any(verdict.failures for verdict in verdicts):
        return 1
    print(f"counts: {len(counts)} cases, none slower")
    return 0 if same_compiler else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
