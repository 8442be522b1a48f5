"""Everything but Vulkan works where there is no Vulkan loader: nothing links it, and its absence has a name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

import vyre
from vyre import _core

HIDE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* dlopen(const char* file, int flags) {
  void* (*real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return file != NULL && strstr(file, "libvulkan") != NULL ? NULL : real(file, flags);
}
"""

EVERYTHING_ELSE = """
import numpy as np
import vyre

@vyre.kernel(workgroup_size=64)
def xor(a: vyre.In[vyre.u32], b: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    out[i] = a[i] ^ b[i]

a, b = np.arange(10_000, dtype=np.uint32), np.full(10_000, 0xFFFF, np.uint32)
assert (xor(a, b) == a ^ b).all()
for backend in ("reference", "cpu"):
    assert (xor(a, b, backend=backend) == a ^ b).all()
assert (vyre.array(a).numpy() == a).all()
assert not vyre.check(xor.program, {"a": a[:64], "b": b[:64], "out": 64}, 1).reports
assert vyre.lower(xor.program, target="spirv")[:4] == bytes.fromhex("03022307")
assert "@compute" in vyre.lower(xor.program, target="wgsl")
assert vyre.std.sha256([b"abc"]).tobytes().hex().startswith("ba7816bf")
assert vyre.backends() == ["cpu", "reference"], vyre.backends()
assert vyre.devices() == []
print(vyre.backends().unavailable()["vulkan"])
"""


@pytest.fixture(scope="module")
def without_loader(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that find no libvulkan, as on a machine that has none."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("hide")
    (folder / "hide.c").write_text(HIDE, encoding="ascii")
    library = folder / "hide.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "hide.c", "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def test_everything_else_works(without_loader, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(EVERYTHING_ELSE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], env=without_loader, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['no Vulkan loader (libvulkan.so.1) was found. Fix: ")


def test_a_call_that_asks_for_vulkan_is_told_what_is_missing(without_loader):
    code = "import vyre; vyre.empty(4, backend='vulkan')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=without_loader, capture_output=True, text=True, timeout=120, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert "no Vulkan loader (libvulkan.so.1) was found. Fix: " in last
    assert last.startswith("vyre.errors.")


def test_the_module_asks_the_linker_for_the_systems_own_libraries_alone():
    reader = shutil.which("readelf")
    if reader is None:
        pytest.skip("no readelf here")
    printed = subprocess.run([reader, "-d", _core.__file__], capture_output=True, text=True, check=True).stdout
    needed = {line.split("[")[1].rstrip("]") for line in printed.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
    assert "libc.so.6" in needed
    assert vyre.__version__
