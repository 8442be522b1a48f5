"""`make bench`: measures vyre and what a user would pick instead in one run, and prints one table of targets.

    python bench/table.py                          measure and print (about three minutes on two cores)
    python bench/table.py --only numba wgpu        some contenders alone
    python bench/table.py --json out.json          keep the figures, for instance on a GPU machine
    python bench/table.py --from out.json --write  no measuring: take those figures
    python bench/table.py --write                  keep them in bench/results, and write bench/README.md

Every contender runs in a process of its own with a time limit. Peers come from build/peers (`.ci/setup peers`) where
that is there, else from this Python. A peer that is missing, crashes or hangs is listed with the reason.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tabulate import tabulate

from contenders import CONTENDERS, Row
from results import HEADERS, Results, not_measured, table
from targets import ARX, REFERENCE_ARX, SIZES, SMALL, WHOLE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = ROOT / "build" / "peers"
# Seconds for which a process may print nothing. Some compile for long, but none for this long.
PATIENCE = 90


def figures(row: Row, gpu: bool) -> list[str]:
    """Returns the names of the figures that are measured of a contender, by rising size."""
    if row.name == "vyre reference":
        return [f"xor whole {SMALL}", f"arx whole {REFERENCE_ARX}"]
    small = [f"xor {kind} {SMALL}" for kind in ("enqueue", "round", "whole", "resident")]
    kind = "gpu" if gpu and (row.gpu or row.module in ("peers.taichi_", "peers.wgpu_")) else "cpu"
    if row.name in ("numpy", "vyre cpu") or "processor" in row.name or row.name in ("numba", "PoCL"):
        kind = "cpu"
    sizes = SIZES[kind][1:]
    result = [
        *small,
        *(f"xor {how} {size}" for size in sizes for how in ("resident", "whole") if size <= WHOLE or how == "resident"),
    ]
    result += [f"arx {how} {ARX[kind]}" for how in ("resident", "whole")]
    if row.name == "numpy":
        # The lines of the reference and of the GPU show these beside their own.
        result += [f"arx whole {REFERENCE_ARX}", *([f"xor whole {WHOLE}"] if gpu else [])]
    if row.ours or row.batches:
        result += [f"xor batch {SMALL}", f"xor batch-host {SMALL}"]
    if row.ours:
        result.append(f"xor enqueue {SIZES[kind][-1]}")
    return [figure for figure in result if figure.split()[0] in row.workloads]


def ended(code: int) -> str:
    """Says how a process ended."""
    return f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def ask(command: list[str], on_line: Callable[[dict], object]) -> str:
    """Runs a process and passes its lines of JSON to `on_line`. Returns why it failed, or an empty string.

    The limit is for the time between two lines: a process that works prints one now and then, one that hangs does not.
    """
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    environment.setdefault("XDG_RUNTIME_DIR", "/tmp")  # a Vulkan loader complains without it
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, env=environment, **options) as process:
        try:
            return watch(process, on_line)
        finally:  # after Ctrl-C too, no process is left behind
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def watch(process: subprocess.Popen, on_line: Callable[[dict], object]) -> str:
    """Reads the output of a process until it ends; see ask()."""
    patience, errors = PATIENCE, []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
    reader.start()
    hung = threading.Event()

    def end() -> None:
        hung.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(patience, end)
    timer.start()
    for line in process.stdout:
        timer.cancel()
        if line.startswith("{"):
            on_line(json.loads(line))
        timer = threading.Timer(patience, end)
        timer.start()
    code = process.wait()
    timer.cancel()
    reader.join(1)
    if hung.is_set():
        return f"said nothing for {patience:.0f} s and was stopped"
    if code != 0:
        last = next((line.strip() for line in reversed(errors) if line.strip()), "")
        return ended(code) + (f": {last}" if last else "")
    return ""


def pythons(row: Row) -> list[str]:
    """Returns the Pythons that may have a contender's package: the peers' own environment, and this one."""
    own = PEERS / "bin" / "python"
    return [sys.executable] if row.ours or not own.exists() else [str(own), sys.executable]


def measure(row: Row, wanted: list[str], results: Results, arguments: list[str], say: Callable = print) -> None:
    """Measures all figures of one contender. After a crash, a new process measures the rest."""
    if row.never:
        results.missing[row.name] = row.never
        return
    left, started = list(wanted), ""
    candidates = pythons(row)
    python = candidates[0]

    def on_line(line: dict) -> None:
        nonlocal started
        if "about" in line:
            results.about[row.name] = line["about"]
            results.missing.pop(row.name, None)
        elif "started" in line:
            started = line["started"]
        elif "figure" in line:
            left.remove(line["figure"])
            started = ""
            if "seconds" in line:
                results.seconds.setdefault(row.name, {})[line["figure"]] = line["seconds"]
            else:
                results.gaps.setdefault(row.name, {})[line["figure"]] = line["missing"]
        elif "missing" in line:
            results.missing[row.name] = line["missing"]

    while left:
        before = len(left)
        task = {"module": row.module, "arguments": arguments, "figures": left}
        reason = ask([python, str(HERE / "worker.py"), json.dumps(task)], on_line)
        if reason and started:
            left.remove(started)
            results.gaps.setdefault(row.name, {})[started] = reason
            started = ""
        elif len(left) == before:
            if reason:
                results.missing[row.name] = reason
            if row.name in results.missing and python != candidates[-1]:
                python = candidates[-1]
                continue
            break
    say(f"  {row.name}: {results.about.get(row.name) or results.missing.get(row.name)}", file=sys.stderr)


def host_figures(results: Results) -> None:
    """Measures the figures that need no device, each in a process of its own."""
    seconds, gaps = results.seconds.setdefault("host", {}), results.gaps.setdefault("host", {})

    def script(python: str, *arguments: str, figure: str) -> bool:
        why = ask([python, str(HERE / "host.py"), *arguments], seconds.update)
        if why:
            gaps[figure] = why
        return not why

    for nodes in (200, 2_000, 20_000, 99_000):
        script(sys.executable, "compile", str(nodes), figure=f"compile all {nodes}")
    script(sys.executable, "import", "vyre", figure="import vyre")
    for package in dict.fromkeys(row.package for row in CONTENDERS if row.package and not row.ours):
        # Any row with that package tells in which Pythons it may be.
        row = next(row for row in CONTENDERS if row.package == package)
        if row.name in results.about:
            any(script(python, "import", package, figure=f"import {package}") for python in pythons(row))
    for where in ("cpu", "reference", "gpu" if results.gpu else "llvmpipe"):
        script(sys.executable, "memory", where, figure=f"memory {where}")
    if script(sys.executable, "checks", figure="checks"):
        seconds["checks"] = max(value for name, value in seconds.items() if name.startswith("checks "))
    counts = json.loads((ROOT / "tests/counts/counts.json").read_text(encoding="utf-8"))["instructions"]
    node = [
        sum(counts[f"{stage} {n}"] for stage in ("build", "validate", "lower", "emit-spirv")) / n
        for n in (2_000, 99_000)
    ]
    seconds["growth"] = node[1] / node[0]
    core_figures(seconds, gaps)


def core_figures(seconds: dict[str, float], gaps: dict[str, str]) -> None:
    """Adds the figures of the C++ benchmark, if it was built."""
    program = ROOT / "build/bench/bench/vyre_bench_ir"
    if not program.exists():
        for nodes in (200, 99_000):
            gaps[f"core all {nodes}"] = "the C++ benchmark was not built (`make bench` builds it)"
        return
    command = [str(program), "--benchmark_filter=straight_line", "--benchmark_format=json", "--benchmark_min_time=0.05"]
    command += ["--benchmark_repetitions=3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    stages = {"build": "build", "validate": "validate", "lower_to_spirv": "lower", "build_to_spirv": "all"}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("run_type") == "iteration":
            stage, nodes = row["name"].split("<")[0], row["name"].rsplit("/", 1)[1]
            figure = f"core {stages[stage]} {nodes}"
            seconds[figure] = min(seconds.get(figure, 1e9), row["real_time"] / 1e3)


def machine(gpu: str) -> dict[str, str]:
    """Describes the machine for which the figures hold."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    cores = len(os.sched_getaffinity(0))
    facts = {
        "name": f"{model}, {cores} cores",
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
    }
    if gpu:
        facts["gpu"] = gpu
    return facts


def find_gpu() -> str:
    """Returns the name of a real GPU that vyre can use, or "". Another process looks, because a driver may crash."""
    text = (
        "import vyre; print(next((d.name for d in vyre.devices() if d.usable and d.kind.endswith(' gpu') "
        "and d.kind != 'software gpu'), ''))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout.strip()


def run(only: list[str]) -> Results:
    """Measures all contenders, one after the other, because two at once would slow each other down."""
    gpu = find_gpu()
    results = Results(machine=machine(gpu), gpu=gpu, command="python bench/table.py")
    print(f"{results.machine['name']}{', ' + gpu if gpu else ''}:", file=sys.stderr)
    for row in CONTENDERS:
        if only and not any(word.lower() in row.name.lower() for word in only):
            continue
        if row.gpu and not gpu:
            results.missing[row.name] = "no GPU here"
            continue
        arguments = [argument.replace("{vulkan}", "" if gpu else "llvmpipe") for argument in row.arguments]
        measure(row, figures(row, bool(gpu)), results, arguments)
        own = results.seconds.get(row.name, {})
        if row.ours:
            results.gaps.setdefault(row.name, {})["flat"] = results.why(row.name, f"xor enqueue {SMALL}")
        for largest in (sizes[-1] for sizes in SIZES.values() if f"xor enqueue {sizes[-1]}" in own):
            own["flat"] = own[f"xor enqueue {largest}"] / own[f"xor enqueue {SMALL}"]
    if not only:
        host_figures(results)
    return results


def main(argv: list[str] | None = None) -> int:
    """Measures or loads results, prints them, and saves what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="contenders whose name holds one of these"
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--from", type=Path, dest="source", help="take these figures instead of measuring")
    parser.add_argument("--write", action="store_true", help="into bench/results and bench/README.md")
    options = parser.parse_args(argv)
    if options.only and options.write:
        parser.error("--write keeps a whole run, got --only. Fix: leave one of them out.")
    results = Results.load(options.source) if options.source else run(options.only)
    print(tabulate([line.cells() for line in table(results)], headers=HEADERS, disable_numparse=True))
    print("\nNot measured here:")
    for note in not_measured(results):
        print(f"  {note}")
    if options.json:
        results.save(options.json)
    if options.write:
        import page

        page.write(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
