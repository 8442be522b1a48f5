"""``vyre fuzz``: random programs on a backend, compared with the reference or with another backend.

This module takes the request: it has the arguments, checks that they fit together, and opens the log. Then it runs a
sweep of random programs (_fuzz_sweep.py), programs with planted defects (_fuzz_planted.py), or one case of a file.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._base.files import read_at_most
from vyre._base.refused import no_place
from vyre.commands._fuzz_lines import say, what_runs
from vyre.commands._listing import add_forms, print_json
from vyre.commands._place import NoSuchPlace, check_name, exit_statuses, split_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.fuzz import Way

_MOST_CASE = 1 << 30  # bytes of a file with a case

_EPILOG = """\
backends:
  reference        in order, reversed and at random, with the optimiser and without
  cpu, vulkan      with the optimiser and without
  wgsl             likewise, as WGSL through the package wgpu
  module:function  likewise, a Python function that takes and returns what vyre.run does
                   (vyre.fuzz.resident:run: arrays that stay on their device, a grid from data);
                   with --procedures it takes what vyre.fuzz.procedures.run does
  FILE.py:function likewise, of a file of Python
  vulkan:1         device 1 of a backend, counted as vyre.devices("vulkan") lists them

--against BACKEND compares with another backend, or another device of the same, as its calls run; the reference runs
nothing. That leaves out what the reference alone sees: two sides that are wrong in the same way agree, a difference
does not say which side is wrong, and the log's hashes of outputs are those of that backend. A program then takes what
the other side takes; the reference takes half a millisecond. Of what differs, reducing asks the reference whether it
has a race.

A program counts as refused when a backend says that it cannot run it (a limit of the device, a driver that was found
not to keep its word); that is never agreement.

""" + exit_statuses("if no program was wrong", "if one was", "130 after Ctrl-C or SIGTERM")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "fuzz",
        help="random programs on a backend, compared with the reference",
        description="Run random programs on a backend and compare the bytes with the reference's, or with another "
        "backend's. What disagrees is reduced to a small program and printed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--backend",
        action="append",
        metavar="NAME",
        help="what to compare; may be given several times; otherwise the best here",
    )
    parser.add_argument(
        "--device", type=_count, metavar="D", help="one of the backend's, counted as below; otherwise its default"
    )
    parser.add_argument(
        "--against",
        metavar="NAME",
        help="compare with this backend in place of the reference: vulkan, vulkan:1, module:function",
    )
    parser.add_argument(
        "--seed", type=_count, metavar="S", help="of the first program; the others follow it; otherwise 0"
    )
    parser.add_argument("--count", type=_count, metavar="N", help="how many programs")
    parser.add_argument("--seconds", type=_seconds, metavar="N", help="stop after so long; 60 when there is no --count")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="how many processes (one for each processor)")
    parser.add_argument("--log", metavar="FILE", help="keep a row for each program, as JSON lines")
    parser.add_argument(
        "--resume", action="store_true", help="go on where the log ends; --count is that of the whole log"
    )
    parser.add_argument(
        "--wrong",
        type=_count,
        default=1,
        metavar="N",
        help="stop after this many that are wrong (1); 0 goes on to the end",
    )
    parser.add_argument(
        "--rewrites",
        type=_count,
        default=0,
        metavar="N",
        help="change each program N times in ways that keep its bytes",
    )
    parser.add_argument(
        "--statements", type=_positive, default=200, metavar="N", help="about the largest number of statements (200)"
    )
    parser.add_argument(
        "--clean", action="store_true", help="only programs that stay in bounds and read what was written"
    )
    parser.add_argument(
        "--independent",
        action="store_true",
        help="only programs whose invocations share nothing, which lowering changes the most",
    )
    parser.add_argument(
        "--combinations",
        action="store_true",
        help="combinations of what lowering does for speed, two for each program by turns; on Vulkan also with arrays "
        "reached by their addresses",
    )
    parser.add_argument(
        "--tries", type=_count, default=3000, metavar="N", help="runs that reducing a program may take (3000)"
    )
    parser.add_argument(
        "--planted",
        nargs="?",
        const="all",
        metavar="DEFECT",
        help="whether checked execution finds each defect in N programs (1,000) with it, and nothing in N without any",
    )
    parser.add_argument(
        "--procedures",
        action="store_true",
        help="random procedures instead of programs, compared with a model that takes their steps one by one",
    )
    parser.add_argument(
        "--case", metavar="FILE", help="run this program, as a fuzz run wrote it, instead of random ones"
    )
    parser.add_argument("--progress", action="store_true", help="show progress also where the output is no terminal")
    add_forms(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not re.fullmatch(r"\d+", text) or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 to 2**64 - 1")
    return int(text)


def _positive(text: str) -> int:
    if not 0 < _count(text) < 2**32:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds above 0")
    return value


def run(chosen: argparse.Namespace) -> int:
    from vyre import fuzz  # not for every command: it registers the operations that its programs call
    from vyre.commands._fuzz_planted import run_planted
    from vyre.commands._fuzz_sweep import Sweep

    if chosen.sarif and (chosen.case or chosen.planted):
        raise no_place("--sarif", "without random programs that are compared")
    if chosen.sarif and not chosen.log:
        raise vyre.ArgumentError("--sarif needs --log, beside which its cases lie. Fix: add --log FILE.")
    if chosen.case:
        return _run_case(chosen)
    if chosen.planted:
        return run_planted(chosen)
    if chosen.resume and not chosen.log:
        raise vyre.ArgumentError("--resume needs --log. Fix: name the log to go on with.")
    if chosen.procedures:
        for name, plain in (("rewrites", 0), ("clean", False), ("independent", False), ("statements", 200)):
            if getattr(chosen, name) != plain:
                raise no_place(f"--{name}", "with --procedures")
    settings = fuzz.Settings(
        statements=chosen.statements,
        clean=chosen.clean,
        rewrites=chosen.rewrites,
        independent=chosen.independent,
        procedures=chosen.procedures,
    )
    backends, ways = _ways(chosen)
    against = _against(chosen, ways)
    target = _described(ways)
    other = {} if against is None else {"against": f"{against} ({_described([against])})"}
    head: Mapping[str, Any] = {
        "target": target,
        **other,
        "backends": backends,
        "device": chosen.device,
        **asdict(settings),
        "combinations": chosen.combinations,
        "seed": chosen.seed or 0,
    }
    log = None
    if chosen.log:
        log = _resume(chosen, head) if chosen.resume else fuzz.Log.create(chosen.log, head)
        head = log.head
    try:
        return Sweep(chosen, backends, ways, against, settings, head, log).run()
    finally:
        if log is not None:
            log.close()


def _ways(chosen: argparse.Namespace) -> tuple[list[str], list[Way]]:
    from vyre import fuzz

    backends = chosen.backend or [vyre.backends()[0]]
    if chosen.device is not None and all(each in _core._hosts for each in backends):
        raise no_place("--device", f"with --backend {backends[0]}")
    ways = []
    for given in dict.fromkeys(backends):
        backend, device = split_place(given)
        if device is not None and chosen.device is not None:
            raise no_place("--device", f"with --backend {given}")
        _check_name(backend, "--backend")
        if device is None and backend not in _core._hosts:
            device = chosen.device
        ways += fuzz.ways_of(backend, device, combinations=chosen.combinations)
    if chosen.procedures:
        from vyre.fuzz.procedures.judge import ways_for_procedures

        ways = ways_for_procedures(ways)
    return backends, ways


def _check_name(backend: str, option: str) -> None:
    from vyre.fuzz.compare import IN_PYTHON

    if backend != "wgsl" and ":" not in backend:
        check_name(backend, option, IN_PYTHON)


def _described(ways: Sequence[Way]) -> str:
    """The devices of the ways, in words.

    Raises: NoSuchPlace where a backend or a device is not here; ArgumentError where a function is not.
    """
    from vyre import fuzz

    backends = [way for way in ways if ":" not in way.backend]
    told = ""
    if backends:
        try:
            told = fuzz.describe(backends)
        except (vyre.ArgumentError, vyre.CapabilityError) as error:
            raise NoSuchPlace(str(error)) from None
    return told if len(backends) == len(ways) else fuzz.describe(ways)


def _against(chosen: argparse.Namespace, ways: Sequence[Way]) -> Way | None:
    """Return the way that the others are compared with; None for the reference."""
    from vyre import fuzz

    if chosen.against is None:
        return None
    if chosen.procedures:
        raise no_place("--against", "with --procedures")
    backend, device = split_place(chosen.against)
    _check_name(backend, "--against")
    against = fuzz.way_against(backend, device)
    if against in ways:
        raise vyre.ArgumentError(
            f"--against {chosen.against} names what --backend names. Fix: name another backend, or another device."
        )
    return None if against == fuzz.Way("reference") else against


def _resume(chosen: argparse.Namespace, head: Mapping[str, Any]) -> Any:
    """The log to go on with, if it is of the same request on the same target with the same programs."""
    from vyre import fuzz

    log = fuzz.Log.resume(chosen.log)
    # A log of an earlier version knows fewer settings, and has programs as they were made before there were more.
    kept = {**asdict(fuzz.Settings()), "combinations": False, **log.head}
    head = {"against": None, **head} if "against" in log.head else head
    for name, value in head.items():
        if kept.get(name) != value and (name != "seed" or chosen.seed is not None):
            log.close()
            raise vyre.ArgumentError(
                f"log `{chosen.log}` has {name} {kept.get(name)!r}, not {value!r}. "
                "Fix: ask for what it has, or begin another log."
            )
    if log.rows:
        settings = fuzz.Settings(**{name: kept[name] for name in asdict(fuzz.Settings())})
        case, _ = settings.case(log.rows[-1].seed)
        if f"{case.hash():016x}" != log.rows[-1].program:
            log.close()
            raise vyre.ArgumentError(
                f"log `{chosen.log}` has other {what_runs(chosen)} of the same seeds: another version of vyre wrote "
                "it. Fix: begin another log."
            )
    return log


def _run_case(chosen: argparse.Namespace) -> int:
    from vyre import fuzz
    from vyre.fuzz.campaign import PATIENCE
    from vyre.fuzz.worker import Worker, WorkerEndedError

    fix = "name a file that `vyre fuzz` wrote"
    data = read_at_most(chosen.case, _MOST_CASE, fix=fix)
    kind: Any = fuzz.Case
    if chosen.procedures:
        from vyre.fuzz.procedures import ProcedureCase as kind
    try:
        case = kind.from_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise vyre.ParseError(f"`{chosen.case}` is no case: it is not UTF-8. Fix: {fix}.") from None
    _, ways = _ways(chosen)
    against = _against(chosen, ways)
    target, other = _described(ways), None if against is None else f"{against} ({_described([against])})"
    if not chosen.json:
        say("target", target)
        if other is not None:
            say("with", other)
    worker = Worker(PATIENCE)
    try:
        judgement = worker.ask("judge", case, None, ways, PATIENCE, against)
    except WorkerEndedError as error:
        at_fault = against if error.run == 1 and against is not None else ways[max(error.run - 2, 0)]
        judgement = fuzz.Judgement(error.kind, str(at_fault), str(error))
    finally:
        worker.close()
    if chosen.json:
        told = {name: getattr(judgement, name) for name in ("kind", "way", "message", "call")}
        return print_json("fuzz", bool(judgement), target=target, against=other, **told)
    say(judgement.kind, f"{judgement.way}: {judgement.message}" if judgement.way else "in every way")
    return 0 if judgement else 1
