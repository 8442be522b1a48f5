"""The places where Vulkan's drivers and compiled pipelines are looked for, in the words of ``vyre doctor``.

The Vulkan loader does not say which drivers it found, only which devices they have. So this module reads the places
that the loader searches, which the core knows. It loads nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["drivers_left_out", "loaded", "looked_for", "named_drivers"]

_VARIABLES = (
    *("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"),
    *("VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE", "VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"),
    *("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"),
    *("VYRE_BACKEND", "VYRE_DEVICE", "VYRE_INSTRUCTIONS", "VYRE_CACHE_DIR", "XDG_CACHE_HOME"),
)

_LEAVING_OUT = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE")


def looked_for() -> Iterator[str]:
    """A line for each thing that was looked for, with what is there. The devices must have been listed before.

    >>> any(line.startswith("Vulkan loader: ") for line in looked_for())
    True
    """
    yield f"Vulkan loader: libvulkan.so.1, then libvulkan.so: {loaded() or 'neither was found'}"
    chosen = [f"{name}={os.environ[name]}" for name in _VARIABLES if os.environ.get(name)]
    yield "environment: " + ("; ".join(chosen) or f"none of {', '.join(_VARIABLES)} is set")
    places, why = _places()
    yield f"driver manifests{why}:"
    for place in places:
        yield from (f"    {line}" for line in _manifests(place))
    yield f"GPU nodes of the kernel: {_nodes()}"
    yield f"compiled pipelines: {_cache()}"


def loaded() -> str:
    """The Vulkan loader that this process has opened."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    paths = (line.split(maxsplit=5)[-1] for line in lines)
    return next((path for path in paths if Path(path).name.startswith("libvulkan.so")), "")


def named_drivers() -> tuple[str, ...]:
    """The libraries that manifests name, but for those that are not where their manifest says."""
    found = []
    for place in _places()[0]:
        try:
            files = sorted(place.glob("*.json")) if place.is_dir() else [place]
        except OSError:
            continue
        for file in files:
            library = _core._driver_library(os.fsencode(file))
            if library is not None and ("/" not in library or (file.parent / library).exists()):
                found.append(library)
    return tuple(dict.fromkeys(found))


def drivers_left_out() -> bool:
    """Whether a variable keeps the loader from drivers that are installed."""
    return any(os.environ.get(name) for name in _LEAVING_OUT)


def _places() -> tuple[list[Path], str]:
    """The folders and files that are searched for manifests, and which variable names them, in words."""
    places, only, added = _core._driver_places()
    also = ", as VK_ADD_DRIVER_FILES says, then in the usual folders" if added else ""
    return list(map(Path, places)), f", as {only} says, and nowhere else" if only else also


def _manifests(place: Path) -> Iterator[str]:
    """The contents of a folder or a manifest, in words."""
    try:
        if not place.is_dir():
            yield _manifest(place)
            return
        files = sorted(file for file in place.iterdir() if file.suffix == ".json")
    except OSError as error:
        yield f"{place}: {error.strerror}"
        return
    if not files:
        yield f"{place}: no manifest in it"
    for file in files:
        yield _manifest(file)


def _manifest(file: Path) -> str:
    try:
        file.stat()
    except OSError as error:
        return f"{file}: {'not there' if isinstance(error, FileNotFoundError) else error.strerror}"
    library = _core._driver_library(os.fsencode(file))
    if library is None:
        readable = os.access(file, os.R_OK)
        return f"{file}: {'no driver manifest' if readable else 'this user may not read it'}"
    # A bare name is looked for by the dynamic linker; a path is relative to the manifest.
    missing = "/" in library and not (file.parent / library).exists()
    return f"{file} -> {library}" + (" (not there)" if missing else "")


def _nodes() -> str:
    found = []
    for pattern in ("dri/renderD*", "nvidia[0-9]*", "kfd"):
        for node in sorted(Path("/dev").glob(pattern)):
            allowed = os.access(node, os.R_OK | os.W_OK)
            found.append(str(node) + ("" if allowed else " (this user may not open it)"))
    return ", ".join(found) or "none (no /dev/dri/renderD*, /dev/nvidia*, /dev/kfd)"


def _cache() -> str:
    found = _core._pipelines_folder()
    if found is None:
        return "kept in memory alone, without VYRE_CACHE_DIR, XDG_CACHE_HOME and HOME"
    folder = Path(found)
    try:
        if folder.is_dir():
            many = sum(1 for _ in folder.iterdir())
            writable = "" if os.access(folder, os.W_OK) else ", which this user may not write to"
            return f"{folder}, {many} {'file' if many == 1 else 'files'}{writable}"
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return f"{folder}, no files yet"
