"""The one command that mends what Vulkan lacks here, in the words of ``vyre doctor``.

``SYSTEMS`` has what is called how on which system; everything else asks it. What a machine is like is read below a
root, so that tests can ask for machines that are not there.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vyre._tools.looked_for import _LEAVING_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SYSTEMS", "Machine", "Remedy", "System", "Vulkan", "mend", "this_machine"]


class System(NamedTuple):
    """A family of Linux systems, with its names of the packages that Vulkan needs."""

    name: str
    ids: tuple[str, ...]  # of /etc/os-release: ID, else one of ID_LIKE
    update: str  # comes before an installation where package lists may be missing
    install: str  # asks nothing
    loader: str
    software: str  # llvmpipe, and the drivers that come with it
    amd: str
    intel: str
    nvidia: str  # {major}: the version of the kernel's driver, which it has to match


SYSTEMS = (
    System(
        *("Ubuntu", ("ubuntu",), "apt-get update", "apt-get install -y --no-install-recommends"),
        *("libvulkan1", "mesa-vulkan-drivers", "mesa-vulkan-drivers", "mesa-vulkan-drivers", "libnvidia-gl-{major}"),
    ),
    System(
        *("Debian", ("debian",), "apt-get update", "apt-get install -y --no-install-recommends"),
        *("libvulkan1", "mesa-vulkan-drivers", "mesa-vulkan-drivers", "mesa-vulkan-drivers", "nvidia-vulkan-icd"),
    ),
    System(
        *("Fedora", ("fedora", "rhel", "centos"), "", "dnf install -y"),
        *("vulkan-loader", "mesa-vulkan-drivers", "mesa-vulkan-drivers", "mesa-vulkan-drivers"),
        "xorg-x11-drv-nvidia-libs",
    ),
    System(
        *("Arch", ("arch",), "", "pacman -Syu --needed --noconfirm"),
        *("vulkan-icd-loader", "vulkan-swrast", "vulkan-radeon", "vulkan-intel", "nvidia-utils"),
    ),
)
"""The row whose ``ids`` name a system's ID, else the first that one of its ID_LIKE names."""

_VENDORS = {"0x1002": "amd", "0x8086": "intel", "0x10de": "nvidia"}


class Machine(NamedTuple):
    """The facts about a machine that decide how it is mended."""

    system: System | None  # None where no row is about it
    pretty: str  # the system's own name
    container: bool
    wsl: bool
    root: bool  # whether this user may install
    gpus: tuple[str, ...]  # the makers of the GPUs that the kernel shows: "amd", "intel", "nvidia", or "other"
    refused: tuple[str, ...]  # their nodes that this user may not open
    nvidia: str  # the major version of NVIDIA's kernel driver, or nothing


class Vulkan(NamedTuple):
    """The parts of Vulkan that were found."""

    loader: bool
    drivers: tuple[str, ...]  # the libraries that manifests name and that are there
    chosen: bool  # whether a variable leaves drivers out
    device: bool  # whether a device can be used
    gpu: bool  # whether a GPU can
    cuda: bool = False  # whether the other route to an NVIDIA GPU works


class Remedy(NamedTuple):
    """A missing part, and the one command that mends it."""

    missing: str  # a sentence without its full stop
    command: str  # empty where none is known
    installs: bool = False  # whether a Dockerfile may have it


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _release(text: str) -> dict[str, str]:
    """The rows of an os-release file, which are assignments of a shell."""
    rows = {}
    for line in text.splitlines():
        name, is_row, value = line.strip().partition("=")
        if is_row and not name.startswith("#"):
            try:
                rows[name] = "".join(shlex.split(value))
            except ValueError:  # an open quotation
                continue
    return rows


def _system(rows: dict[str, str], like: Iterable[str]) -> System | None:
    for wanted in (rows.get("ID", ""), *like):
        for row in SYSTEMS:
            if wanted in row.ids:
                return row
    return None


def this_machine(root: Path = Path("/")) -> Machine:
    """Read the facts about a machine from the files below a root.

    >>> this_machine(Path("/nonexistent")).gpus
    ()
    """
    rows = _release(_read(root / "etc/os-release") or _read(root / "usr/lib/os-release"))
    kernel = _read(root / "proc/sys/kernel/osrelease").lower()
    marks = (".dockerenv", "run/.containerenv", "run/systemd/container")
    gpus, refused = set(), []
    for node in sorted((root / "dev").glob("dri/renderD*")):
        maker = _read(root / "sys/class/drm" / node.name / "device/vendor").strip()
        gpus.add(_VENDORS.get(maker, "other"))
        if not os.access(node, os.R_OK | os.W_OK):
            refused.append(f"/{node.relative_to(root)}")
    if any((root / "dev").glob("nvidia[0-9]*")):
        gpus.add("nvidia")
    major = re.search(r"Kernel Module\D*?(?:for x86_64\s*)?(\d+)\.", _read(root / "proc/driver/nvidia/version"))
    return Machine(
        system=_system(rows, rows.get("ID_LIKE", "").split()),
        pretty=rows.get("PRETTY_NAME") or rows.get("NAME") or "this system",
        container=any((root / mark).exists() for mark in marks),
        wsl="microsoft" in kernel,
        root=os.geteuid() == 0,
        gpus=tuple(sorted(gpus)),
        refused=tuple(refused),
        nvidia=major[1] if major else "",
    )


def _as_root(machine: Machine, *commands: str) -> str:
    return " && ".join(command if machine.root else f"sudo {command}" for command in commands if command)


def _installation(machine: Machine, missing: str, drivers: Iterable[str] = ()) -> Remedy:
    row = machine.system
    if row is None:
        return Remedy(missing, "")
    packages = " ".join(dict.fromkeys((row.loader, row.software, *drivers)))
    return Remedy(missing, _as_root(machine, row.update, f"{row.install} {packages}"), installs=True)


def _drivers_of_gpus(machine: Machine, vulkan: Vulkan) -> list[str]:
    """The packages with the drivers of the GPUs here that no manifest names."""
    row = machine.system
    if row is None or machine.container:
        return []
    packages = []
    for maker, library in (("amd", "radeon"), ("intel", "intel"), ("nvidia", "nvidia")):
        if maker in machine.gpus and not any(library in driver.lower() for driver in vulkan.drivers):
            package = getattr(row, maker)
            if "{major}" not in package or machine.nvidia:
                packages.append(package.format(major=machine.nvidia))
    return packages


def mend(machine: Machine, vulkan: Vulkan) -> Remedy | None:
    """Find the missing part and the one command that mends it; None when nothing is missing.

    A container is given its GPU from outside, so the command is then one for the machine that starts it.
    """
    if vulkan.cuda and set(machine.gpus) <= {"nvidia"}:
        return None  # its programs run by CUDA, which needs nothing of Vulkan
    if vulkan.chosen and not vulkan.device:
        return Remedy(
            "a variable of the Vulkan loader (`environment` above) allows only drivers that are not there or fail",
            f"unset {' '.join(_LEAVING_OUT)}",
        )
    unused = bool(machine.gpus) and not vulkan.gpu
    if machine.container and "nvidia" in machine.gpus and vulkan.loader and unused:
        return Remedy(
            "this container has an NVIDIA GPU without its Vulkan driver, which the command that starts it has to share",
            "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics IMAGE",
        )
    missing = [] if vulkan.loader else ["the Vulkan loader"]
    if not vulkan.device and not vulkan.drivers:
        missing.append("a Vulkan driver")
    drivers = _drivers_of_gpus(machine, vulkan) if unused else []
    if missing or drivers:
        what = " and ".join(missing) or "the Vulkan driver of the GPU"
        return _installation(machine, f"{what} {'are' if len(missing) > 1 else 'is'} missing", drivers)
    if machine.refused and unused:
        what = f"this user may not open {', '.join(machine.refused)}"
        if machine.container:
            group = f"$(stat -c %g {machine.refused[0]})"
            return Remedy(what, f"docker run --device /dev/dri --group-add {group} IMAGE")
        return Remedy(what, "sudo usermod -aG render,video $USER && exec su - $USER")
    if not vulkan.device:
        return _installation(machine, "no Vulkan driver here works")
    return None
