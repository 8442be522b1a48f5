"""The forms of places where programs run, and of what runs there: devices, backends, recorded calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._html.markup import Content, Markup
from vyre._html.parts import Form, code, facts, folded, label, note, sheet, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._arrays.graph import Graph
    from vyre._devices import Backends, Device

__all__ = ["backends", "device", "devices", "graph"]


def device(shown: Device) -> str:
    return sheet(device_form(shown))


def devices(shown: Sequence[Device]) -> str:
    if not shown:
        return sheet(Form("Devices", "There is no GPU and no software GPU here."))
    return sheet(*map(device_form, shown))


def device_form(shown: Device) -> Form:
    usable = label("usable", "good") if shown.usable else label("not usable", "bad")
    rows: list[tuple[str, Content]] = [
        ("device", shown.index),
        ("backend", shown.backend),
        ("kind", shown.kind),
        ("driver", shown.driver),
        ("state", usable),
        ("default", "yes" if shown.default else shown.default_for),
    ]
    parts = (
        facts(rows),
        *(note(reason, "bad") for reason in shown.reasons),
        _facts_below("limits", shown.limits),
        _facts_below("what the driver was found to do", shown.probes),
    )
    return Form("Device", shown.name, parts)


def _facts_below(name: str, values: Mapping[str, int | str]) -> Markup:
    if not values:
        return Markup()
    rows = [[code(key), value] for key, value in values.items()]
    return folded(f"{name} ({len(values)})", table(["", ""], rows))


def backends(shown: Backends) -> str:
    rows: list[list[Content]] = [[code(name), label("works", "good")] for name in shown]
    for name, reasons in shown.unavailable().items():
        rows.append([code(name), label("not here", "bad"), " ".join(reasons)])
    return sheet(Form("Backends", "best first", (table([], rows),)))


def graph(shown: Graph) -> str:
    told = "It is replayed with .replay(times)." if len(shown) else ""
    return sheet(Form("Graph", shown._core.describe(), (note(told),)))
