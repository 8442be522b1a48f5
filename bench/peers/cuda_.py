"""Runs CUDA C++ that nvcc compiles here. It is called through ctypes, which adds about a microsecond to a call."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernel import Contender, Kernel, Missing

SOURCE = Path(__file__).with_name("cuda_.cu")


def start(form: str) -> Contender:
    """Starts kernels that compute "one" element per thread, as most people would write them first, or "four"."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        raise Missing("no nvcc on this machine")
    folder = tempfile.TemporaryDirectory()
    place = f"{folder.name}/kernels.so"
    command = [nvcc, "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", place, str(SOURCE)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise Missing(f"nvcc: {built.stderr.strip().splitlines()[-1]}")
    library = ctypes.CDLL(place)
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout.split("release ")[
        1
    ]

    def checked(error: int) -> None:
        if error != 0:
            raise Missing(f"CUDA's error {error}")

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        run = library.run_arx if workload == "arx" else getattr(library, f"run_xor_{form}")

        def pointers() -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
            # The addresses of arrays that make() keeps: an address alone keeps no array alive.
            return ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data)

        checked(library.start(*pointers(), a.size))
        checked(run())
        checked(library.finish())

        def fetch() -> np.ndarray:
            result = np.empty_like(a)
            checked(library.take(ctypes.c_void_p(result.ctypes.data)))
            return result

        def whole() -> np.ndarray:
            checked(library.give(*pointers()))
            run()
            return fetch()

        def batch(count: int) -> Callable[[], object]:
            checked(library.record_xor(count))
            return library.replay

        return Kernel(run, library.finish, fetch, whole, batch if run is library.run_xor_one else None)

    return Contender(f"nvcc {version.split(',')[0]}", make)
