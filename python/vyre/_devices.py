"""``backends`` and ``devices``: what programs can run on here."""

from __future__ import annotations

from dataclasses import dataclass, field

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._default import check_backend

__all__ = ["Backends", "Device", "backends", "devices"]


class Backends(list[str]):
    """The names of the backends that work here, best first."""

    def unavailable(self) -> dict[str, list[str]]:
        """The other backends, each with the reasons why it does not work here.

        >>> isinstance(backends().unavailable(), dict)
        True
        """
        return _core._unavailable()

    def _repr_html_(self) -> str:
        from vyre._html.machines import backends

        return backends(self)


def backends() -> Backends:
    """The names of the backends that work here, best first.

    The order is CUDA, a GPU by Vulkan, the processor, software Vulkan, the reference. A call that names no backend runs
    on the first, which was found to compute a small program correctly; ``vyre doctor`` says why it is the first.

    >>> "reference" in backends()
    True
    """
    return Backends(_core._available())


@dataclass(frozen=True)
class Device:
    """A GPU or software GPU.

    Attributes:
        index: its number among those of its backend, which ``run(backend=..., device=...)`` takes.
        backend: the backend that uses it. A GPU that several backends can use is listed once for each.
        name, driver: as the driver says.
        kind: "discrete gpu", "integrated gpu", "software gpu" or "cpu".
        usable: whether programs run on it.
        default: whether arrays, and calls that name their backend but no device, go to it. Some programs may go to
            another one, which says so in `default_for`.
        default_for: says which of the calls that name their backend but no device run on it; empty if none do.
        reasons: why it is not usable.
        limits: by Vulkan's names; on ``cuda`` also ``memory``, in bytes.
        probes: what the driver was found to do when it was opened.
    """

    index: int
    backend: str
    name: str
    driver: str
    kind: str
    usable: bool
    default: bool
    default_for: str = field(default="", repr=False)
    reasons: tuple[str, ...] = ()
    limits: dict[str, int] = field(default_factory=dict, repr=False, hash=False)
    probes: dict[str, str] = field(default_factory=dict, repr=False, hash=False)

    def _repr_html_(self) -> str:
        from vyre._html.machines import device

        return device(self)


class Devices(list[Device]):
    """The devices that ``vyre.devices`` lists, which a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        from vyre._html.machines import devices

        return devices(self)


def devices(backend: str | None = None) -> list[Device]:
    """The GPUs and software GPUs of this machine, with their limits, usable or not.

    The first list opens each of them once, because only that shows whether its driver works.

    Args:
        backend: only those that this backend uses; None for all.

    Raises: ArgumentError when there is no such backend.

    >>> all(isinstance(device, Device) for device in devices())
    True
    """
    if backend is not None:
        check_backend(backend, "argument `backend` of vyre.devices")
    _core._try_devices(backend)
    return Devices(Device(**row) for row in _core._devices() if backend in (None, row["backend"]))


explain_calls(globals())
