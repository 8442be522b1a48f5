"""Which backend calls take that name none: of the two routes to an NVIDIA GPU, the one that measures ahead and works.

``MEASURED`` has what the routes were measured at. The choice follows from it and from what is here: where both routes
reach the GPU, the one that is ahead in more rows runs a tiny program, and is the default if its bytes are right.
Nothing is measured here, and no driver touched before a call needs a default. VYRE_BACKEND and vyre.default_device come
first.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from vyre import _core
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["MEASURED", "Choice", "Measure", "ahead", "best", "choice", "choose", "ordered", "trial"]


class Measure(NamedTuple):
    """The cost of one thing by each route, in one unit: less is better."""

    what: str
    cuda: float
    vulkan: float
    unit: str


MEASURED = (
    Measure("a call and its wait", 12.9, 16.9, "us"),
    Measure("a call, not waited for", 3.02, 2.88, "us"),
    Measure("a step of a graph that depends on the one before", 0.954, 2.43, "us"),
    Measure("a step of a graph that shares nothing", 0.982, 0.431, "us"),
    Measure("sum of 2^28 u32", 0.242, 0.252, "ms"),
    Measure("argmax", 0.271, 0.301, "ms"),
    Measure("cumsum", 0.759, 0.781, "ms"),
    Measure("compact", 0.789, 0.989, "ms"),
    Measure("partition", 0.755, 1.431, "ms"),
    Measure("sort of 2^28 u32", 7.325, 7.846, "ms"),
    Measure("sort of 2^27 pairs", 6.004, 6.394, "ms"),
    Measure("sort of 2^27 u64", 16.26, 14.29, "ms"),
    Measure("top 100", 2.709, 2.471, "ms"),
    Measure("transpose", 0.768, 0.706, "ms"),
    Measure("matmul of 1,024^3", 0.204, 0.171, "ms"),
    Measure("segmented sum", 1.104, 2.176, "ms"),
    Measure("histogram of 256 bins", 0.301, 0.419, "ms"),
    Measure("histogram of 65,536 bins", 4.459, 3.151, "ms"),
    Measure("searchsorted", 11.92, 21.90, "ms"),
    Measure("gather", 7.750, 7.760, "ms"),
)
"""On one NVIDIA H200, as bench/README.md has it under "What the CUDA route reaches", where rows say more."""

_GPU = "NVIDIA H200"
# On a busy host, two runs of one route differ by this much, so a smaller lead counts as none.
_LEAD = 1.05
_PATIENCE = 60.0  # seconds that the tiny program may take


class Choice(NamedTuple):
    """A backend, and why it is the one: a sentence without its full stop."""

    backend: str
    why: str


def ahead(route: str) -> list[Measure]:
    """The rows in which a route is ahead, the largest lead first.

    >>> ahead("vulkan")[0].what
    'a step of a graph that shares nothing'
    """
    leads = {row: row.vulkan / row.cuda if route == "cuda" else row.cuda / row.vulkan for row in MEASURED}
    return sorted((row for row in MEASURED if leads[row] >= _LEAD), key=leads.__getitem__, reverse=True)


def choose(
    backends: Sequence[str],
    unavailable: Mapping[str, Sequence[str]],
    devices: Sequence[Mapping[str, Any]],
    tried: Callable[[str], str],
) -> Choice:
    """The choice of a machine.

    Args:
        backends: those that work, best first: a GPU, the processor, software Vulkan, the reference.
        unavailable: the others, with the reasons.
        devices: rows as ``_core._devices()`` gives them.
        tried: runs a tiny program on a backend, and says what is wrong with it; nothing where its bytes are right.
    """
    # A route that is listed behind the processor does not lead to a GPU.
    routes = [name for name in backends[: list(backends).index("cpu")] if name in ("cuda", "vulkan")]
    if not routes:
        reasons = "; ".join(_none(name, unavailable, devices) for name in ("vulkan", "cuda"))
        return Choice(backends[0], f"no route to a GPU works here ({reasons})")
    if "cuda" not in routes:
        gpu = _named(devices, "vulkan")
        if not _is_nvidias(devices):
            return Choice("vulkan", f"{gpu} has no other route: CUDA is for NVIDIA's")
        return Choice("vulkan", f"it is the route to {gpu} that works ({_none('cuda', unavailable, devices)})")
    if "vulkan" in routes and not _shared(devices):
        return Choice("vulkan", f"it is the route to {_named(devices, 'vulkan')}, which CUDA does not reach")
    gpu = _named(devices, "cuda")
    preferred = max(("cuda", "vulkan"), key=lambda route: len(ahead(route)))
    if preferred not in routes:
        preferred = routes[0]
    wrong = tried(preferred)
    if not wrong:
        if len(routes) > 1:
            return Choice(preferred, f"both routes reach {gpu}, and {_lead(preferred)}")
        other = _none("vulkan", unavailable, devices)
        return Choice("cuda", f"it is the route to {gpu} that works, and needs no Vulkan driver ({other})")
    rest = [name for name in backends if name != preferred]
    return Choice(rest[0], f"{_title(preferred)} reaches {gpu}, but its first program failed ({_problem(wrong)})")


def _lead(route: str) -> str:
    rows = ahead(route)
    figures = "; ".join(f"{row.what} {row.cuda:g} {row.unit} by CUDA, {row.vulkan:g} by Vulkan" for row in rows[:3])
    other = ahead("vulkan" if route == "cuda" else "cuda")
    return (
        f"{_title(route)} was measured ahead in {len(rows)} of {len(MEASURED)} rows on an {_GPU} ({figures}), "
        f"the other in {len(other)} ({other[0].what})"
    )


def _title(route: str) -> str:
    return {"cuda": "CUDA", "vulkan": "Vulkan"}[route]


def _named(devices: Sequence[Mapping[str, Any]], backend: str) -> str:
    """The name of a backend's GPU."""
    own = [row for row in devices if row["backend"] == backend and row["usable"]]
    gpus = [row for row in own if row["kind"] in ("discrete gpu", "integrated gpu")] or own
    return str(next((row["name"] for row in gpus if row["default"]), gpus[0]["name"] if gpus else "a GPU"))


def _is_nvidias(devices: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the GPU that Vulkan takes is NVIDIA's. Older drivers leave the maker out of its name."""
    name = _named(devices, "vulkan")
    said = [f"{row['name']} {row['driver']}" for row in devices if row["backend"] == "vulkan" and row["name"] == name]
    return any("nvidia" in text.lower() for text in said)


def _shared(devices: Sequence[Mapping[str, Any]]) -> bool:
    """Whether CUDA reaches the GPU that Vulkan takes. Older drivers leave the maker out of Vulkan's name."""
    by_vulkan = _named(devices, "vulkan").lower().removeprefix("nvidia ")
    by_cuda = {
        row["name"].lower().removeprefix("nvidia ") for row in devices if row["backend"] == "cuda" and row["usable"]
    }
    # Mesa's driver has the name in its own words, "NVIDIA GeForce RTX 3060 (NVK GA106)".
    return any(by_vulkan == name or by_vulkan.startswith(f"{name} ") for name in by_cuda)


def _none(backend: str, unavailable: Mapping[str, Sequence[str]], devices: Sequence[Mapping[str, Any]]) -> str:
    """Why a backend reaches no GPU, without the Fix, which stands with the backend's own reasons."""
    reasons = list(unavailable.get(backend, ()))
    if not reasons:
        own = [row for row in devices if row["backend"] == backend]
        reasons = [reason for row in own for reason in row["reasons"]] or ["its only devices are software"]
    return f"{_title(backend)}: {'; '.join(map(_problem, reasons))}"


def _problem(message: str) -> str:
    """A message without its Fix."""
    return message.partition(". Fix: ")[0].rstrip(".")


_NUMBERS = range(1, 1025)
_TRIAL = """vyre 1
workgroup_size 64 1 1
buffer x: read_write u32 binding 0

if gid.x < len(x) {
    x[gid.x] = rotl(x[gid.x] * 2654435761, gid.x & 31)
}
"""


def trial(backend: str) -> str:
    """Say what is wrong with the first program on a backend. Returns the empty text if its bytes are right."""
    import numpy as np

    given = np.array(_NUMBERS, np.uint32)
    product = [number * 2654435761 & 0xFFFFFFFF for number in _NUMBERS]
    expected = [(value << (k & 31) | value >> (32 - (k & 31))) & 0xFFFFFFFF for k, value in enumerate(product)]
    try:
        outputs = _core._run(
            _core.parse(_TRIAL), {"x": given}, (16, 1, 1), backend, None, _PATIENCE, None, None, "vyre.backends"
        )
    except VyreError as error:
        return str(error)
    return "" if outputs["x"].tolist() == expected else "it gave wrong bytes."


def _tried_apart(backend: str) -> str:
    """Call ``trial`` on a thread of its own, because the calling thread may be recording a graph."""
    said: list[str] = []
    # An open profile is about the user's calls, and this is none of them.
    thread = threading.Thread(target=lambda: _core._unprofiled(lambda: said.append(trial(backend))), name="vyre-trial")
    thread.start()
    thread.join()
    return said[0] if said else "its thread ended early."


_decided: list[Choice] = []


def choice() -> Choice:
    """The choice of this machine, which the first call makes for as long as the process lives."""
    if not _decided:
        made = choose(_core._available(), _core._unavailable(), _core._devices(), _tried_apart)
        # Another thread may have been here meanwhile, and all take the first.
        _decided.append(made)
    return _decided[0]


def best() -> str:
    """The backend of calls that name none, where neither the environment nor vyre.default_device names one."""
    return choice().backend


def ordered() -> list[str]:
    """The backends that work, the default first and the others best first."""
    names = _core._available()
    first = best()
    # A device may have been lost since the choice was made.
    return sorted(names, key=lambda name: name != first) if first in names else names
