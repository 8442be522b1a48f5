"""``vyre ops``: the operations that programs call and the calls of vyre.std, or some of them in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vyre
from vyre.commands._listing import add_json, print_json

if TYPE_CHECKING:
    import argparse

_STD = "vyre.std."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "ops",
        help="the operations that programs and kernels can call, and the calls of vyre.std",
        description="List the operations that programs and kernels can call and the calls of vyre.std on whole arrays, "
        "or show some of them with their parameters and examples.",
    )
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="such as primitive.math.gcd or vyre.std.sort; otherwise all, a line each"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from vyre.commands._library import call_names, call_row, shown  # the library, which other commands do without

    calls = [f"{_STD}{name}" for name in call_names()]
    found = [_spec(id, calls) for id in chosen.ids or vyre.ops.ids() if id not in calls]
    library = [call_row(id.removeprefix(_STD)) for id in chosen.ids or calls if id in calls]
    if chosen.json:
        return print_json("ops", True, operations=[_row(spec) for spec in found], library=library)
    if not chosen.ids:
        for spec in found:
            print(f"{spec.id}({', '.join(spec.parameters)}): {spec.summary}")
        for row in library:
            print(f"{row['name']}({', '.join(each['name'] for each in row['parameters'])}): {row['summary']}")
        return 0
    print("\n\n".join([*map(_shown, found), *map(shown, library)]))
    return 0


def _spec(id: str, calls: list[str]) -> vyre.OpSpec:
    """The operation of an id. Raises ArgumentError with the ids that may have been meant."""
    try:
        return vyre.ops.get(id)
    except vyre.ArgumentError:
        known, name = [*vyre.ops.ids(), *calls], id.partition("@")[0]
    meant = [each for each in known if each == name or each.endswith(f".{name}")]
    meant = meant or [each for each in known if each.endswith(f".{name.rpartition('.')[2]}")]
    if not meant and name:
        nearest = vyre._core._did_you_mean(name, known) or vyre._core._did_you_mean(f"{_STD}{name}", calls)
        meant = nearest.split("`")[1:2]
    fix = f"write `vyre ops {' '.join(meant)}`; `vyre ops` lists all" if meant else "write one that `vyre ops` lists"
    raise vyre.ArgumentError(f"there is no operation `{id[:80]}`. Fix: {fix}.") from None


def _row(spec: vyre.OpSpec) -> dict[str, Any]:
    if spec.signature is None:
        return _procedure_row(spec)
    return {
        "id": spec.id,
        "version": spec.version,
        "parameters": list(spec.parameters),
        "inputs": [type.name for type in spec.signature.inputs],
        "output": spec.signature.output.name,
        "summary": spec.summary,
        "laws": [law.name for law in spec.laws],
        "examples": [{"inputs": list(inputs), "output": output} for inputs, output in spec.examples],
    }


def _procedure_row(spec: vyre.OpSpec) -> dict[str, Any]:
    assert spec.procedure is not None
    given = vyre._core._procedure_interface(spec.procedure)
    results = vyre._core._procedure_interface(spec.procedure, True)
    return {
        "id": spec.id,
        "version": spec.version,
        "parameters": list(spec.parameters),
        "inputs": [_typed(element, axes) for _, _, element, axes in given],
        "output": [_typed(element, axes) for kind, _, element, axes in results if kind == "output"],
        "summary": spec.summary,
        "laws": [],
        "examples": [],
    }


def _typed(element: vyre.DataType, axes: int) -> str:
    """ "U32" for a number, "U32[]" for an array, "U32[,]" for one of two axes."""
    return f"{element.name}[{',' * (axes - 1)}]" if axes else element.name


def _shown(spec: vyre.OpSpec) -> str:
    row = _row(spec)
    typed = ", ".join(f"{name}: {type}" for name, type in zip(row["parameters"], row["inputs"], strict=True))
    output = row["output"] if isinstance(row["output"], str) else ", ".join(row["output"]) or "nothing"
    lines = [f"{spec.id}({typed}) -> {output}", f"  {spec.summary}"]
    if row["laws"]:
        lines.append(f"  laws: {', '.join(row['laws'])}")
    lines += [f"  {', '.join(map(str, inputs))} -> {output}" for inputs, output in spec.examples]
    return "\n".join(lines)
