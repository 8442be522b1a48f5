"""``python -m vyre.demo [DIR]``: SHA-256 of every file below DIR on the best backend here, compared with hashlib.

Prints device, files, bytes, time and mismatches; the exit status is 0 when every digest agrees, 1 when one does
not, 2 when there is nothing to hash.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from pathlib import Path

import vyre
from vyre._base.refused import not_installed
from vyre.demo.tree import File, find_files, hash_files


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m vyre.demo", description="SHA-256 of a directory tree, compared with hashlib."
    )
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(sysconfig.get_path("stdlib")), help="default: Python's library"
    )
    parser.add_argument("--backend", default=None, help="one of vyre.backends(); default: the best one here")
    parser.add_argument(
        "--device", type=int, default=None, help="a position in vyre.devices(); default: the best one of the backend"
    )
    return parser.parse_args(argv)


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


def main(argv: list[str] | None = None) -> int:
    """Run the demonstration and return its exit status."""
    try:
        from tqdm import tqdm
    except ImportError:
        return _refuse(not_installed("the demo", "tqdm", "demo"))

    options = _arguments(argv)
    if not options.directory.is_dir():
        return _refuse(f"`{options.directory}` is not a directory. Fix: name one whose files are to be hashed.")
    backend = options.backend or vyre.backends()[0]
    if backend not in vyre.backends():
        reasons = " ".join(vyre.backends().unavailable().get(backend, ["there is no such backend."]))
        return _refuse(f"backend `{backend}` does not work here: {reasons}")
    devices = [device for device in vyre.devices() if device.backend == backend]
    if options.device is not None and not 0 <= options.device < len(devices):
        return _refuse(f"backend `{backend}` has {len(devices)} devices, no {options.device}. Fix: leave --device out.")
    device = devices[options.device] if options.device is not None else next((d for d in devices if d.default), None)

    files = [File(path, path.stat().st_size) for path in find_files(options.directory)]
    if not files:
        return _refuse(f"`{options.directory}` has no files. Fix: name a directory with files.")
    print(f"device      {f'{device.name} ({backend})' if device else backend}")
    print(f"directory   {options.directory}")

    unreadable = []
    start = time.perf_counter()
    total = sum(file.size for file in files)
    with tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024, desc="hashing", disable=None) as progress:
        for taken, failed in hash_files(files, backend, device):
            progress.update(taken)
            unreadable += failed
    seconds = time.perf_counter() - start

    for file, error in unreadable:
        print(f"not read    {file.path}: {error}", file=sys.stderr)
    lost = {id(file) for file, _ in unreadable}
    hashed = [file for file in files if id(file) not in lost]
    mismatches = [file for file in hashed if not file.matches]
    for file in mismatches:
        print(f"mismatch    {file.path}: {file.digest}, hashlib says {file.expected.hexdigest()}")
    size = sum(file.size for file in hashed)
    print(f"files       {len(hashed):,}" + (f" ({len(unreadable)} could not be read)" if unreadable else ""))
    print(f"bytes       {size:,}")
    print(f"time        {seconds:.2f} s ({size / seconds / 1e6:,.1f} MB/s, reading and comparing included)")
    print(f"{len(mismatches)} mismatches")
    return 1 if mismatches or not hashed else 0


if __name__ == "__main__":
    sys.exit(main())
