"""``vyre doctor`` shows what was looked for: loader, variables, manifests, the cache; with Vulkan and without."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre import _core
from vyre._tools import looked_for as _looked_for


def doctor(*options: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "vyre", "doctor", *options],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_json_has_what_the_lines_say():
    found = json.loads(doctor("--json", VK_DRIVER_FILES="/nonexistent/icd.json"))
    assert found["command"] == "doctor"
    assert found["ok"]
    assert found["devices"] == []
    assert found["backends"] == ["cpu", "reference"]
    assert found["trials"] == {"reference": "right", "cpu": "right"}
    assert "    /nonexistent/icd.json: not there" in found["looked_for"]
    assert found["fix"].startswith("unset ")
    lines = doctor(VK_DRIVER_FILES="/nonexistent/icd.json")
    assert f"\ncpu: {found['cpu']}\n" in lines
    assert f"\n    {found['fix']}\n" in lines
    assert found["missing"] in lines


def test_a_default_that_refuses_every_call_is_a_fault():
    done = subprocess.run(
        [sys.executable, "-m", "vyre", "doctor"],
        env={**os.environ, "VYRE_BACKEND": "nope"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    said = "\ncalls that name no backend fail, by VYRE_BACKEND and VYRE_DEVICE: environment variable `VYRE_BACKEND`"
    assert said in done.stdout
    assert json.loads(doctor("--json", VYRE_BACKEND="cpu"))["default"] == "right"


NO_CODE = """
#include <errno.h>
int memfd_create(const char* name, unsigned flags) {
  errno = EPERM;
  return -1;
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code is x86's")
def test_it_says_whether_the_cpu_backend_runs_machine_code(tmp_path):
    """It does where the processor has SSE4.1, unless the system forbids code that the process has written."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    if " sse4_1 " not in flags:
        assert "\ncpu: programs are interpreted on the processor, because the processor lacks SSE4.1\n" in doctor()
        return
    assert re.search(r"\ncpu: programs run on the processor as machine code, with (SSE4\.1|AVX2|AVX512)\n", doctor())
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    (tmp_path / "no_code.c").write_text(NO_CODE, encoding="ascii")
    library = tmp_path / "no_code.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "no_code.c"], check=True)
    said = doctor(LD_PRELOAD=str(library), VK_DRIVER_FILES="/nonexistent/icd.json")
    why = "the system executes nothing that a process has written"
    assert f"\ncpu: programs are interpreted on the processor, because {why}\n" in said
    assert "\ncpu: right\n" in said


def manifest(folder: Path, name: str, library: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": library}}), encoding="utf-8")
    return path


def test_without_a_driver_it_says_which_file_was_asked_for():
    places = {"VYRE_BACKEND": "cpu", "VYRE_DEVICE": "0"}
    said = doctor(VK_DRIVER_FILES="/nonexistent/icd.json", VYRE_CACHE_DIR="/nonexistent/cache", **places)
    assert "; VYRE_BACKEND=cpu; VYRE_DEVICE=0; " in said
    versions = f"vyre {vyre.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
    assert said.startswith(f"{versions}{platform.platform()}\nSPIR-V: ")
    assert "\nno GPU and no software GPU here; what was looked for stands below\n" in said
    assert "vyre doctor" not in said
    assert "VK_DRIVER_FILES=/nonexistent/icd.json" in said
    assert (
        "\ndriver manifests, as VK_DRIVER_FILES says, and nowhere else:\n    /nonexistent/icd.json: not there\n" in said
    )
    assert "\ncompiled pipelines: /nonexistent/cache/pipelines, no files yet\n" in said
    assert "\nreference: right\n" in said
    assert said.endswith(f"\n    unset {' '.join(_looked_for._LEAVING_OUT)}\n\n")


@pytest.mark.skipif(not any(device.usable for device in vyre.devices()), reason="no device here")
def test_with_a_driver_it_shows_the_loader_and_the_manifests():
    said = doctor()
    assert re.search(r"^Vulkan loader: libvulkan\.so\.1, then libvulkan\.so: /\S*libvulkan\.so\S*$", said, re.MULTILINE)
    listed = re.findall(r"^    (/\S+\.json) -> (\S+)$", said, re.MULTILINE)
    assert listed
    for path, library in listed:
        assert json.loads(Path(path).read_text(encoding="utf-8"))["ICD"]["library_path"] == library
    assert "SPIR-V: this build has it\n" in said
    assert "backends, best first; a call that names none runs on the first:\n" + vyre.backends()[0] + "\n" in said


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No variable is set, and the home is an empty folder."""
    for name in _looked_for._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_folders_are_those_of_the_loaders_documentation(nowhere, monkeypatch):
    assert _looked_for._places() == (
        [
            nowhere / ".config/vulkan/icd.d",
            Path("/etc/xdg/vulkan/icd.d"),
            Path("/etc/vulkan/icd.d"),
            nowhere / ".local/share/vulkan/icd.d",
            Path("/usr/local/share/vulkan/icd.d"),
            Path("/usr/share/vulkan/icd.d"),
        ],
        "",
    )
    monkeypatch.setenv("XDG_DATA_DIRS", "/one:/two")
    monkeypatch.setenv("VK_ADD_DRIVER_FILES", "/more.json")
    places, _ = _looked_for._places()
    assert places[0] == Path("/more.json")
    assert places[-2:] == [Path("/one/vulkan/icd.d"), Path("/two/vulkan/icd.d")]
    # The older name counts where the newer one is not set; either leaves out everything else.
    monkeypatch.setenv("VK_ICD_FILENAMES", "/old.json")
    assert _looked_for._places()[0] == [Path("/old.json")]
    monkeypatch.setenv("VK_DRIVER_FILES", "/new.json:/other.json")
    assert _looked_for._places()[0] == [Path("/new.json"), Path("/other.json")]


def test_manifests_are_told_apart(nowhere, tmp_path):
    folder = tmp_path / "icd.d"
    here = manifest(folder, "a.json", "./libhere.so")
    (folder / "libhere.so").touch()
    gone = manifest(folder, "b.json", "/nonexistent/libgone.so")
    bare = manifest(folder, "c.json", "libbare.so")
    wrong = manifest(folder, "d.json", ["no", "text"])
    broken = folder / "e.json"
    broken.write_bytes(b"\xff{" + b"[" * 100_000)
    deep = folder / "f.json"
    deep.write_text(f'{{"more": {"[" * 65}{"]" * 65}, "ICD": {{"library_path": "/nonexistent/libdeep.so"}}}}')
    os.mkfifo(folder / "g.json")
    (folder / "notes.txt").touch()
    assert list(_looked_for._manifests(folder)) == [
        f"{here} -> ./libhere.so",
        f"{gone} -> /nonexistent/libgone.so (not there)",
        f"{bare} -> libbare.so",
        f"{wrong}: no driver manifest",
        f"{broken}: no driver manifest",
        f"{deep}: no driver manifest",
        f"{folder / 'g.json'}: no driver manifest",
    ]
    (tmp_path / "empty").mkdir()
    assert list(_looked_for._manifests(tmp_path / "empty")) == [f"{tmp_path / 'empty'}: no manifest in it"]
    assert list(_looked_for._manifests(tmp_path / "none")) == [f"{tmp_path / 'none'}: not there"]


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"VYRE_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own/pipelines"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/vyre/pipelines"),
        ({"XDG_CACHE_HOME": "relative"}, "~/.cache/vyre/pipelines"),
        ({}, "~/.cache/vyre/pipelines"),
    ],
)
def test_the_cache_is_where_the_readme_says(nowhere, monkeypatch, variables, folder):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _looked_for._cache() == f"{folder.replace('~', str(nowhere))}, no files yet"


def test_the_cache_says_how_many_files_it_has(nowhere, monkeypatch):
    monkeypatch.setenv("VYRE_CACHE_DIR", str(nowhere))
    folder = nowhere / "pipelines"
    folder.mkdir()
    (folder / "one").touch()
    assert _looked_for._cache() == f"{folder}, 1 file"
    (folder / "two").touch()
    assert _looked_for._cache() == f"{folder}, 2 files"


def test_no_cache_is_said_so(nowhere, monkeypatch):
    monkeypatch.delenv("HOME")
    assert _looked_for._cache() == "kept in memory alone, without VYRE_CACHE_DIR, XDG_CACHE_HOME and HOME"


def test_it_says_what_the_default_is_and_why():
    for environment in ({}, {"VK_DRIVER_FILES": "/nonexistent/icd.json"}):
        chosen = {"VYRE_BACKEND": "", "VYRE_DEVICE": "", **environment}
        found = json.loads(doctor("--json", **chosen))["default_backend"]
        assert found["backend"] == json.loads(doctor("--json", **chosen))["backends"][0]
        assert f"\ndefault: {found['backend']}, because {found['why']}.\n" in doctor(**chosen)
        if found["backend"] == "cpu":
            assert found["why"].startswith("cpu works here, and what comes before it does not: CUDA (")


@pytest.mark.parametrize("variables", [{"VYRE_BACKEND": "reference"}, {"VYRE_DEVICE": "0"}], ids=["backend", "device"])
def test_it_says_that_the_environment_chose(variables):
    found = json.loads(doctor("--json", **{"VYRE_BACKEND": "", "VYRE_DEVICE": "", **variables}))["default_backend"]
    assert found["backend"] == variables.get("VYRE_BACKEND", vyre.devices()[0].backend)
    (given,) = (f"{name}={text}" for name, text in variables.items())
    best, why = _core._default_backend()
    assert found["why"] == f"the environment says {given}; without it they would run on {best}, because {why}"
