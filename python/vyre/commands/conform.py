"""``vyre conform``: whether a backend gives the bytes that the documents say, with a certificate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import vyre
from vyre._base.files import check_writable, write_atomically
from vyre._base.refused import no_place, not_installed
from vyre.commands._conform_json import of_levels, of_procedure
from vyre.commands._given import given_of
from vyre.commands._listing import add_json, print_json
from vyre.commands._place import NoSuchPlace, check_place, exit_statuses

if TYPE_CHECKING:
    from vyre.conformance import Certificate, Result


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "conform",
        help="whether a backend gives the documents' bytes, with a certificate",
        description="Run the conformance cases on a backend, and certify what came of them; or run the cases of a "
        "certificate again, here, and compare.",
        epilog=exit_statuses("if every level passed and nothing differs", "if not"),
    )
    parser.add_argument(
        "--backend", metavar="NAME", help="one of `vyre backends`; otherwise the best one here, or that of the device"
    )
    parser.add_argument(
        "--device", metavar="NUMBER", type=int, help="one of `vyre devices`; otherwise the backend's default"
    )
    parser.add_argument(
        "--level", action="append", metavar="LEVEL", help="L1, L2, L3 or L4; may be given several times; otherwise all"
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=int,
        help="run each case N times, with others between; otherwise 3 times. Fewer leave a level incomplete",
    )
    parser.add_argument("--out", metavar="FILE", help="write the certificate, as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page that shows the certificate")
    parser.add_argument(
        "--verify",
        metavar="FILE",
        help="run this certificate again; --out and --html then write the certificate of this run",
    )
    parser.add_argument("--progress", action="store_true", help="show progress also where the output is no terminal")
    parser.add_argument("--seen", action="store_true", help="list the outcomes seen where several are allowed")
    parser.add_argument(
        "--coverage", action="store_true", help="run nothing; show which rows of the tables the cases use, as Markdown"
    )
    parser.add_argument(
        "--procedure",
        metavar="FILE.py:NAME|MODULE:NAME|FILE",
        help="certify this procedure of Python instead, or that of a file with its text or bytes, on inputs that "
        "--call and --seed decide",
    )
    parser.add_argument(
        "--call",
        action="append",
        metavar="JSON",
        help='of --procedure: lengths, shapes and numbers by name, such as \'{"x": 1000, "n": 3}\'; may be given '
        "several times",
    )
    parser.add_argument("--seed", metavar="N", type=int, help="of the inputs of --procedure; otherwise 0")
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from vyre import conformance  # not for every command: it builds programs

    check_place(chosen.backend, None)
    if chosen.device is not None:
        try:
            conformance.runner.target(chosen.backend, chosen.device)
        except (vyre.ArgumentError, vyre.DeviceError) as error:
            raise NoSuchPlace(str(error)) from None
    if chosen.procedure:
        return _run_procedure(chosen)
    for option in ("call", "seed"):
        if getattr(chosen, option) is not None:
            raise no_place(f"--{option}", "without --procedure")
    if chosen.coverage:
        if chosen.json:
            raise no_place("--json", "with --coverage")
        print(conformance.coverage.table())
        return 0
    if chosen.verify and chosen.level:
        raise no_place("--level", "with --verify")
    # The files are checked before minutes are spent on a result that cannot be written.
    for option in filter(None, (chosen.out, chosen.html)):
        check_writable(option)
    seen: list[Result] = []
    with _Bar(force=chosen.progress) as bar:

        def progress(result: Result, done: int, of: int) -> None:
            seen.append(result)
            bar.show(done, of)

        if chosen.verify:
            given = conformance.Certificate.load(chosen.verify)
            verification = conformance.verify(
                given, chosen.backend, chosen.device, repeat=chosen.repeat, progress=progress
            )
            certificate = verification.again
        else:
            verification = None
            repeat = conformance.RUNS if chosen.repeat is None else chosen.repeat
            certificate = conformance.certify(
                chosen.backend, chosen.device, levels=chosen.level, repeat=repeat, progress=progress
            )
    # The files are written before anything is printed: the output may be closed, and the files took minutes.
    for option, text in ((chosen.out, certificate.to_json), (chosen.html, certificate.to_html)):
        if option:
            write_atomically(option, text())
    if chosen.json:
        return print_json("conform", **of_levels(chosen, certificate, verification, seen))
    _print(certificate)
    if chosen.seen:
        for result in seen:
            for outcome, count in sorted(result.observed.items()):
                print(f"seen      {result.case.id}: {outcome}: {count:,}")
    for option in filter(None, (chosen.out, chosen.html)):
        print(f"wrote     {option}")
    agrees = verification is None or _print_verification(verification, chosen.verify)
    return 0 if agrees and certificate.passed else 1


def _run_procedure(chosen: argparse.Namespace) -> int:
    from vyre import conformance

    for option in ("level", "html", "seen", "coverage"):
        if getattr(chosen, option):
            raise no_place(f"--{option}", "with --procedure")
    procedure = _procedure(chosen.procedure)
    if chosen.out:
        check_writable(chosen.out)
    if chosen.verify:
        for option in ("call", "seed"):
            if getattr(chosen, option) is not None:
                raise no_place(f"--{option}", "with --verify")
        verification = conformance.verify_procedure(
            chosen.verify, procedure, backend=chosen.backend, device=chosen.device, repeat=chosen.repeat
        )
        certificate = verification.again
    else:
        verification = None
        repeat = conformance.RUNS if chosen.repeat is None else chosen.repeat
        calls = [_call_of(text) for text in chosen.call or ["{}"]]
        certificate = conformance.certify_procedure(
            procedure, calls, seed=chosen.seed or 0, backend=chosen.backend, device=chosen.device, repeat=repeat
        )
    if certificate is not None and chosen.out:
        write_atomically(chosen.out, certificate.to_json())
    if chosen.json:
        return print_json("conform", **of_procedure(chosen, certificate, verification))
    if certificate is not None:
        content = certificate.content
        place = content["target"]
        print("target    " + ", ".join(str(place[key]) for key in ("backend", "device", "driver") if key in place))
        print(f"procedure {content['procedure']['name']}, sha256 {content['procedure']['sha256'][:16]}...")
        print(f"calls     {len(content['calls'])}, each {content['runs']} times")
        print(f"verdict   {certificate.verdict}")
        if chosen.out:
            print(f"wrote     {chosen.out}")
    agrees = verification is None or _print_verification(verification, chosen.verify)
    return 0 if agrees and certificate is not None and certificate.passed else 1


def _procedure(name: str) -> Any:
    """The procedure of a file, or of a name such as module:name or file.py:name."""
    given = given_of(name, "procedure")[0]
    if isinstance(given, vyre.Program):
        raise vyre.ArgumentError(
            f"`{name}` holds a program, and --procedure takes a procedure. Fix: name a file with Procedure.to_text() "
            "or Procedure.to_bytes()."
        )
    return given


def _call_of(text: str) -> dict[str, Any]:
    """A call of --call; a list is a shape."""
    try:
        call = json.loads(text)
        if not isinstance(call, dict):
            raise ValueError("it is no object")
    except (ValueError, RecursionError) as error:
        raise vyre.ArgumentError(
            f"--call {text[:80]} is no JSON object: {error}. Fix: write --call '{{\"x\": 1000}}'."
        ) from None
    return {name: tuple(value) if isinstance(value, list) else value for name, value in call.items()}


def _print_verification(verification: Any, path: str) -> bool:
    """How a run compares with the certificate in a file. Returns whether it agrees."""
    for note in verification.notes:
        print(f"note      {note}")
    if not verification.agrees:
        first, *more = verification.differences
        print(f"differs   {first}" + (f" (and {len(more)} more)" if more else ""))
        return False
    print(f"verified  every hash of {path} is what this run gave")
    return True


def _print(certificate: Certificate) -> None:
    from vyre.conformance import RUNS

    place = certificate.content["target"]
    print("target    " + ", ".join(str(place[key]) for key in ("backend", "device", "driver") if key in place))
    times = "once" if certificate.runs == 1 else f"{certificate.runs} times"
    print(f"runs      each case {times}" + ("" if certificate.runs == 1 else ", with others between"))
    columns = {"passed": 7, "allowed": 9, "failed": 8, "nondeterministic": 18, "skipped": 9}
    print(f"{'level':<10}{'verdict':<14}" + "".join(f"{key:>{width}}" for key, width in columns.items()))
    for name, row in certificate.content["levels"].items():
        counts = "".join(f"{row.get(key, ''):>{width}}" for key, width in columns.items())
        print(f"{name:<10}{row['verdict']:<14}{counts}".rstrip())
    shown = [row for row in certificate.cases if row["status"] in ("failed", "nondeterministic", "skipped")]
    for row in shown[:20]:
        print(f"{row['status']:<9} {row['id']}: {row['reason']}")
    if len(shown) > 20:
        print(f"          and {len(shown) - 20} more")
    if certificate.runs < RUNS:
        print(f"          levels are incomplete where cases ran fewer than {RUNS} times")


class _Bar:
    """A progress bar on a terminal, by tqdm where it is installed."""

    def __init__(self, *, force: bool) -> None:
        self._show: Callable[[int, int], None] = lambda done, of: None
        self._bar = None
        try:
            from tqdm import tqdm
        except ImportError:
            if force:
                raise vyre.ArgumentError(not_installed("--progress", "tqdm", "conform")) from None
            return
        self._bar = tqdm(unit="case", desc="conform", disable=False if force else None, leave=False)

    def __enter__(self) -> _Bar:
        return self

    def show(self, done: int, of: int) -> None:
        if self._bar is not None:
            self._bar.total = of
            self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
