"""``vyre bench PROGRAM``: how long calls of a program, a kernel or a procedure take here, and their bytes a second."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._given import ABOUT, add_grid, add_program, given_of, grid_of
from vyre.commands._inputs import arguments_of, array_of, as_named
from vyre.commands._listing import add_json, print_json, steps
from vyre.commands._place import add_place, check_place, exit_statuses
from vyre.commands.repeat import PARAMS, no_array
from vyre.commands.run import option_of, takes_value

if TYPE_CHECKING:
    import numpy as np

    from vyre._kernel.parameters import Parameter
    from vyre.commands._bench import Measured, Place, Subject

_SIZES = ((1_000,), (1_000_000,))
_MOST_ELEMENTS = 1 << 32

_EPILOG = f"""\
{ABOUT}

Arrays that --input does not name get random elements, the same in each run.

A row is a place and a kind of arrays. `numpy`: numpy arrays go in and come out. `resident`: arrays stay where the
call runs, and each call is waited for. `first` has the compiler's time too; `call` is the median of the calls after it,
and `least` the shortest. Bytes are those of all arrays that a call takes and gives, each counted once.

""" + exit_statuses("if all rows of a size gave the same bytes", "if not")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "bench",
        help="how long calls take here, and how many bytes a second",
        description="Measure calls of a program, a kernel or a procedure on each device here.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(parser)
    parser.add_argument(
        "--size",
        metavar="N[xN[xN]]",
        type=_as_size,
        action="append",
        help="elements of each array; may be given several times (1000 and 1000000)",
    )
    parser.add_argument(
        "--input",
        metavar="NAME=FILE.npy|N",
        dest="inputs",
        type=as_named,
        action="append",
        default=[],
        help="an array, or the value of a scalar or const parameter",
    )
    add_grid(parser)
    parser.add_argument(
        "--numpy", metavar="EXPRESSION", help="measured too, with the arrays by their names; the bytes must be the same"
    )
    parser.add_argument("--seconds", metavar="S", type=_as_seconds, default=0.5, help="of calls, for each row (0.5)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_place(parser, "every usable device and backend")
    add_json(parser)
    parser.set_defaults(run=run)


def _as_size(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d{1,10}(x\d{1,10}){0,2}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"`{text[:80]}` is not one to three numbers with x between")
    size = tuple(int(each) for each in text.split("x"))
    if not 0 < math.prod(size) < _MOST_ELEMENTS:
        raise argparse.ArgumentTypeError(f"`{text[:80]}` is not a number of elements from 1 to {_MOST_ELEMENTS - 1}")
    return size


def _as_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{text[:80]}` is not a number of seconds from 0 to 3600")
    return seconds


def run(chosen: argparse.Namespace) -> int:
    from vyre.commands import _bench  # numpy and the library of hashes are not for every command

    check_place(chosen.backend, chosen.device)
    if chosen.numpy is not None:
        try:
            compile(chosen.numpy, "--numpy", "eval")
        except (SyntaxError, ValueError) as error:
            raise vyre.ArgumentError(
                f"--numpy {chosen.numpy[:80]} is no expression: {error}. Fix: write one, such as --numpy 'a ^ b'."
            ) from None
    target, given, grid = _target(chosen)
    how = grid_of(chosen, target, grid, needed=False)
    places = _places(chosen)
    sizes = chosen.size or _SIZES
    if grid is not None and not chosen.size:  # the file has the arrays too
        sizes = [(math.prod(grid) * math.prod(target.workgroup_size),)]
    shapes = [value.shape for value in given.values() if hasattr(value, "shape")]
    if shapes and grid is None:  # what is not given is like the largest that is
        if chosen.size and not {*chosen.size} <= {*shapes}:
            raise vyre.ArgumentError("--size is no shape of the arrays of --input. Fix: leave --size out.")
        sizes = chosen.size or [max(shapes, key=math.prod)]
    rows: list[Measured] = []
    with steps("bench", len(sizes) * (2 * len(places) + bool(chosen.numpy)), quiet=chosen.quiet) as progress:
        for size in sizes:
            subject = _subject(target, given, size, how)
            if chosen.numpy is not None:
                rows.append(_bench.of_numpy(subject, chosen.numpy, chosen.seconds))
                progress()
            for row in _bench.measure(subject, places, chosen.seconds):
                rows.append(row)
                progress()
    is_same = all(len({row.sha256 for row in rows if row.size == size}) == 1 for size in sizes)
    if chosen.json:
        return print_json("bench", is_same, target=chosen.program, rows=[_as_json(row) for row in rows])
    _print(rows)
    if not is_same:
        print("Rows of one size have different bytes. Fix: find where with vyre.bisect, or correct --numpy.")
    return 0 if is_same else 1


def _target(chosen: argparse.Namespace) -> tuple[Any, dict[str, Any], tuple[int, ...] | None]:
    """What is called, the inputs that are given, and the workgroups that its file names."""
    target, inputs, workgroups = given_of(chosen.program)
    if isinstance(target, vyre.Program):
        return target, {**inputs, **{name: array_of(value) for name, value in chosen.inputs}}, workgroups
    if isinstance(target, vyre.Procedure):
        from vyre._procedure.loaded import LoadedFunction

        target = LoadedFunction(target)
    return target, dict(chosen.inputs), None


def _places(chosen: argparse.Namespace) -> list[Place]:
    """Where calls run: the place that the options name, or each usable device and each backend without devices."""
    from vyre.commands._bench import Place

    devices = vyre.devices(chosen.backend)
    if chosen.device is not None:
        device = devices[chosen.device]
        return [Place(device.backend, device.index, device.name)]
    if chosen.backend is not None:
        return [Place(chosen.backend, None, chosen.backend)]
    usable = [device for device in devices if device.usable]
    owners = {device.backend for device in usable}
    # The reference says what is right, and is not made for speed.
    plain = [Place(name, None, name) for name in vyre.backends() if name not in {*owners, "reference"}]
    return [*plain, *(Place(device.backend, device.index, _named(device, usable)) for device in usable)]


def _named(device: vyre.Device, among: list[vyre.Device]) -> str:
    """The name of a device; what else tells it from others of its name, where there are any."""
    if sum(each.name == device.name for each in among) == 1:
        return device.name
    return f"{device.name} ({device.backend} {device.index})"


def _subject(target: Any, given: dict[str, Any], size: tuple[int, ...], how: dict[str, Any]) -> Subject:
    """The target with an array for whatever takes one and was not given."""
    import numpy as np

    from vyre._base.types import NUMPY
    from vyre.commands import _bench

    if isinstance(target, vyre.Program):
        grid = how.get("workgroups") or (-(-math.prod(size) // target.workgroup_size[0]),)
        arrays: dict[str, Any] = {}
        for number, decl in enumerate(target.buffers):
            if decl.access in (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private):
                continue
            value = given.get(decl.name)
            if value is None and decl.name == PARAMS:  # random words are no sizes and numbers of a kernel
                raise no_array(decl, f"add {option_of(decl)}")
            if isinstance(value, int) and takes_value(decl):
                value = np.array([value], NUMPY[decl.element][0])
            if value is None or isinstance(value, (int, tuple)):
                shape = (math.prod(size),) if value is None else (value,) if isinstance(value, int) else value
                shape = (decl.count,) if decl.count and value is None else shape
                value = _random(decl.name, decl.element, shape, number)
            arrays[decl.name] = value
        _refuse_unknown(given, list(arrays))
        return _bench.OfProgram(target, arrays, size, grid)

    def made(each: Parameter, value: Any) -> Any:
        if value is None and each.kind == "Out":
            return None
        assert each.element is not None
        shape = _shape(size if value is None else (value,), each.axes)
        return _random(each.name, each.element, shape, target._parameters.index(each))

    arguments = arguments_of(target._parameters, given, lambda each: f"add --input {each.name}=N", made)
    return _bench.OfKernel(target, arguments, size, how)


def _random(name: str, element: vyre.DataType, shape: tuple[int, ...], seed: int) -> np.ndarray:
    from vyre.commands import _bench

    try:
        if math.prod(shape) < _MOST_ELEMENTS:
            return _bench.random_array(element, shape, seed)
    except MemoryError:
        pass
    raise vyre.ArgumentError(
        f"the host has no memory for {math.prod(shape):,} random elements of `{name}`. Fix: name fewer elements."
    )


def _refuse_unknown(given: dict[str, Any], known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise vyre.ArgumentError(f"there is no input `{name[:80]}`. Fix: name one of {', '.join(known) or 'none'}.")


def _shape(size: tuple[int, ...], axes: int) -> tuple[int, ...]:
    """A shape with `axes` axes and about as many elements."""
    if len(size) == axes:
        return size
    count = math.prod(size)
    return (count,) if axes == 1 else (max(1, round(count ** (1 / axes))),) * axes


def _as_json(row: Measured) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(row), "bytes_per_second": row.bytes_per_second}


def _print(rows: list[Measured]) -> None:
    beside = any(row.where == "numpy" for row in rows)
    heads = ["size", "place", "arrays", "first", "call", "least", "bytes/s"]
    heads += ["numpy/call", "SHA-256"] if beside else ["SHA-256"]
    cells = []
    for row in rows:
        numpy_row = next((each for each in rows if each.size == row.size and each.where == "numpy"), None)
        times = [_time(each) for each in (row.first, row.median, row.least)]
        ratio = [] if numpy_row is None else [f"{numpy_row.median / row.median:.2f}" if row.median else ""]
        size = "x".join(f"{each:,}" for each in row.size)
        cells.append([size, row.where, row.arrays, *times, _rate(row.bytes_per_second), *ratio, row.sha256[:8]])
    lines = [heads, *cells]
    widths = [max(len(line[k]) for line in lines) for k in range(len(heads))]
    is_text = {heads.index(name) for name in ("place", "arrays", "SHA-256")}
    for line in lines:
        shown = [
            cell.ljust(width) if k in is_text else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(shown).rstrip())


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def _rate(rate: float) -> str:
    for unit, factor in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6)):
        if rate >= factor or unit == "MB/s":
            return f"{rate / factor:.3g} {unit}"
    raise AssertionError
