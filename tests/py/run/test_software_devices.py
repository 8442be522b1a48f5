"""Machines without a GPU: llvmpipe runs what it can, SwiftShader what llvmpipe would end early; and damaged drivers.

Each in a process of its own, which sees the drivers that the test names and no other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

RADV = next(iter(sorted(Path("/usr/share/vulkan/icd.d").glob("radeon_icd*.json"))), None)
LLVMPIPE = next(iter(sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))), None)
SWIFTSHADER = next(
    (Path(part) for part in os.environ.get("VK_ADD_DRIVER_FILES", "").split(":") if "swiftshader" in part), None
)

PRELUDE = """
import json
import numpy as np
import vyre
from vyre import BufferDecl, Expr, Node, Program
def loops(*turns):
    count = Node.assign("s", Expr.var("s") * 3 + 1)
    entry = [Node.let("s", 0), *[Node.loop("k", 0, n, [count]) for n in turns], Node.store("out", 0, Expr.var("s"))]
    return Program([BufferDecl.read("n", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)], (1, 1, 1), entry)
def expected(turns):
    s = 0
    for _ in range(turns):
        s = (s * 3 + 1) & 0xFFFFFFFF
    return s
def where(call):
    with vyre.profile() as prof:
        call()
    index = next(e.device for e in prof.events if e.name == "dispatch")
    return vyre.devices()[index].name.split()[0]
def run(program, n=0, **place):
    return int(vyre.run(program, {"n": np.uint32([n]), "out": 1}, 1, backend="vulkan", **place)["out"][0])
def show(*values):
    print(json.dumps(values))
"""


def finish(body: str, *drivers: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    chosen = ":".join(map(str, drivers or (LLVMPIPE, SWIFTSHADER)))
    environment = {**os.environ, "VK_ADD_DRIVER_FILES": "", "VK_DRIVER_FILES": chosen, **variables}
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )


def answers(body: str, *drivers: Path, **variables: str) -> list:
    done = finish(body, *drivers, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def _both_drivers():
    if os.environ.get("VYRE_ALLOW_NO_VULKAN") == "1" and not (RADV and LLVMPIPE and SWIFTSHADER):
        pytest.skip("VYRE_ALLOW_NO_VULKAN=1")
    assert LLVMPIPE, "llvmpipe is not installed"
    assert RADV, "radv is not installed"
    assert SWIFTSHADER, "SwiftShader is not in VK_ADD_DRIVER_FILES. Fix: source .ci/env."


LISTING = "show(*[(d.name.split()[0], d.default, d.default_for) for d in vyre.devices()])"


def test_the_listing_says_which_device_is_the_default_for_what():
    assert sorted(answers(LISTING)) == [
        ["SwiftShader", False, "programs that may need more loop turns than llvmpipe allows"],
        ["llvmpipe", True, "arrays, and programs proven to stay within the loop turns that its driver allows"],
    ]


def test_a_device_alone_is_the_default_for_all():
    assert answers(LISTING, LLVMPIPE) == [["llvmpipe", True, "calls that name no device"]]
    assert answers(LISTING, SWIFTSHADER) == [["SwiftShader", True, "calls that name no device"]]


@pytest.mark.parametrize("family", ["gfx1100", "navi21"])
def test_a_device_without_hardware_is_not_usable_and_no_default(family):
    """Mesa's driver lists one when it is told to, as a discrete GPU. It has a queue and memory, but no timelines."""
    body = """
        from vyre import _core
        x = vyre.array([1, 2], dtype=vyre.u32, backend="vulkan")
        on = vyre.devices()[x.device].name.split()[0]
        listed = [(d.name, d.kind, d.usable, d.default, d.reasons) for d in vyre.devices()]
        show(listed, on, vyre.backends(), vyre.backends().unavailable(), _core._default_backend()[1])
    """
    listed, on, backends, unavailable, why = answers(body, RADV, LLVMPIPE, RADV_FORCE_FAMILY=family)
    (nothing, llvmpipe) = sorted(listed)
    assert nothing[0].startswith("Null hardware ")
    assert nothing[1:4] == ["discrete gpu", False, False]
    (reason,) = nothing[4]
    failed = f"vkCreateSemaphore failed on device `{nothing[0]}` (VkResult -1000072003)"
    assert reason == f"{failed}. Fix: check the driver's installation, or use another device."
    assert (on, llvmpipe[2:]) == ("llvmpipe", [True, True, []])
    assert [name for name in backends if name != "cuda"] == ["cpu", "vulkan", "reference"]
    assert "vulkan" not in unavailable
    assert "cuda" in backends or why.endswith(f", Vulkan on a GPU ({failed})")
    body = """
        show([(d.usable, d.default) for d in vyre.devices()], vyre.backends().unavailable()["vulkan"])
    """
    assert answers(body, RADV, RADV_FORCE_FAMILY=family) == [[[False, False]], [reason]]


def test_a_program_goes_to_llvmpipe_where_its_loops_are_proven_to_fit():
    body = """
        cases = [(), (65534,), (1000, 64533), (65535,), (Expr.load("n", 0),), (Expr.load("n", 0) & 1023,)]
        show(*[where(lambda: run(loops(*turns), n=5)) for turns in cases])
    """
    assert answers(body) == ["llvmpipe", "llvmpipe", "llvmpipe", "SwiftShader", "SwiftShader", "llvmpipe"]


def test_the_bytes_are_right_on_either_side_of_the_budget():
    body = """
        cases = [((65534,), 0, 65534), ((65535,), 0, 65535), ((70_000,), 0, 70_000), ((1000, 64533), 0, 65533),
                 ((Expr.load("n", 0),), 70_000, 70_000)]
        show(*[run(loops(*turns), n=n) == expected(total) for turns, n, total in cases])
    """
    assert answers(body) == [True] * 5


def test_arrays_go_to_llvmpipe_and_their_programs_with_them():
    body = """
        n, out = vyre.array([70_000], dtype=vyre.u32, backend="vulkan"), vyre.empty(1, backend="vulkan")
        names = [vyre.devices()[a.device].name.split()[0] for a in (n, out)]
        loops(Expr.load("n", 0) & 1023)(n, out, workgroups=1)
        show(names, int(out.numpy()[0]) == expected(70_000 & 1023))
    """
    assert answers(body) == [["llvmpipe", "llvmpipe"], True]


def test_an_ended_loop_is_a_capability_error_whose_fix_works():
    body = """
        def on(**place):
            n, out = vyre.array([70_000], dtype=vyre.u32, **place), vyre.empty(1, **place)
            loops(Expr.load("n", 0))(n, out, workgroups=1)
            return int(out.numpy()[0]) == expected(70_000)
        try:
            on(backend="vulkan")
        except vyre.CapabilityError as error:
            said = str(error)
        run(loops(70_000))  # so that both devices were tried out
        free = next(d for d in vyre.devices() if d.probes["loop_budget"] == "none")
        name = next(d.name for d in vyre.devices() if d.default)
        show(said, name, on(backend="vulkan", device=free), on(backend="cpu"))
    """
    said, name, elsewhere, on_cpu = answers(body)
    assert said == (
        f"more than 65535 loop turns an invocation exceeds loop_budget of device `{name}`, whose driver ends loops "
        "after 65535 in all. Fix: use backend `cpu` or a device whose loop_budget is none, or run fewer turns a "
        "dispatch and keep the state in a buffer."
    )
    assert (elsewhere, on_cpu) == (True, True)


def test_a_process_ends_while_a_driver_compiles():
    """The compiler goes on when the call has timed out, and the end of the process does not wait for it."""
    body = """
        i = Expr.gid_x()
        entry = [Node.let(f"v{k}", Expr.load("data", i + k)) for k in range(600)]
        total = Expr.var("v0")
        for k in range(1, 600):
            total = total + Expr.var(f"v{k}")
        entry.append(Node.store("data", i, total))
        large = Program([BufferDecl.read_write("data", 0, vyre.u32)], (64, 1, 1), entry)
        run(loops())
        try:
            vyre.run(large, {"data": 64}, 1, backend="vulkan", timeout=0.001)
        except vyre.DispatchTimeoutError as error:
            show(str(error))
    """
    (said,) = answers(body, SWIFTSHADER)
    assert said == (
        "the driver of device `SwiftShader Device (Subzero)` did not compile the program within 0.001 s, and goes on. "
        "Fix: raise the time-out, or give each dispatch less work."
    )


def manifest(folder: Path, library: Path) -> Path:
    path = folder / "driver.json"
    driver = {"library_path": str(library), "api_version": "1.3.0"}
    path.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": driver}))
    return path


def without(*drivers: Path, **variables: str) -> str:
    """Why Vulkan is not here; and nothing else fails."""
    asked = "show(len(vyre.devices()), vyre.backends().unavailable()['vulkan'], vyre.backends()[0])"
    count, reasons, best = answers(asked, *drivers, **variables)
    assert (count, len(reasons), best) == (0, 1, "cpu")
    return reasons[0]


FIX = "Fix: install that driver again, or name others in VK_DRIVER_FILES."


@pytest.mark.parametrize("kept", [100, 4096, 200_000])
def test_a_driver_that_was_cut_short_is_reported_and_ends_no_process(tmp_path, kept):
    whole = Path(json.loads(Path(LLVMPIPE).read_text())["ICD"]["library_path"]).read_bytes()
    (tmp_path / "driver.so").write_bytes(whole[:kept])
    said = without(manifest(tmp_path, tmp_path / "driver.so"))
    named = f"Vulkan driver `{tmp_path}/driver.so`, which `{tmp_path}/driver.json` names"
    start = f"{named}, is damaged: its file ends after {kept} of at least "
    assert said.startswith(start)
    assert said.endswith(f" bytes. {FIX}")
    assert kept < int(said.removeprefix(start).split()[0]) <= len(whole)


def cut_short(folder: Path) -> Path:
    """A manifest in a folder that names a library whose file ends early."""
    folder.mkdir(parents=True)
    whole = Path(json.loads(Path(LLVMPIPE).read_text())["ICD"]["library_path"]).read_bytes()
    (folder / "driver.so").write_bytes(whole[:4096])
    return manifest(folder, folder / "driver.so")


@pytest.mark.parametrize(
    ("variable", "value", "below"),
    [
        ("VK_DRIVER_FILES", "{0}/named", "named"),
        ("VK_ICD_FILENAMES", "{0}/named", "named"),
        ("VK_ADD_DRIVER_FILES", "{0}/named", "named"),
        ("XDG_CONFIG_HOME", "{0}/xdg", "xdg/vulkan/icd.d"),
        ("XDG_CONFIG_DIRS", "/nonexistent:{0}/xdg", "xdg/vulkan/icd.d"),
        ("XDG_DATA_HOME", "{0}/xdg", "xdg/vulkan/icd.d"),
        ("XDG_DATA_DIRS", "/nonexistent:{0}/xdg", "xdg/vulkan/icd.d"),
        ("HOME", "{0}/home", "home/.config/vulkan/icd.d"),
        ("HOME", "{0}/home", "home/.local/share/vulkan/icd.d"),
    ],
)
def test_a_driver_that_was_cut_short_is_found_wherever_the_loader_looks(tmp_path, variable, value, below):
    """Seen: the process ended by SIGBUS, because the loader looks into more folders than were looked into here."""
    broken = cut_short(tmp_path / below)
    said = without(**{"VK_DRIVER_FILES": "", variable: value.format(tmp_path)})
    library = broken.parent / "driver.so"
    assert said.startswith(f"Vulkan driver `{library}`, which `{broken}` names, is damaged: its file ends after 4096 ")


@pytest.mark.parametrize(("at", "field"), [(32, "e_phoff"), (72, "p_offset"), (96, "p_filesz")])
def test_a_library_whose_header_overflows_is_damaged(tmp_path, at, field):
    """The program header that starts at byte 64 is made a PT_LOAD, and one number the largest."""
    whole = bytearray(Path(json.loads(Path(LLVMPIPE).read_text())["ICD"]["library_path"]).read_bytes()[:200_000])
    whole[56:58] = (1).to_bytes(2, "little")  # e_phnum
    whole[32:40] = (64).to_bytes(8, "little")  # e_phoff
    whole[64:68] = (1).to_bytes(4, "little")  # p_type
    whole[72:80] = whole[96:104] = (4096).to_bytes(8, "little")
    whole[at : at + 8] = (2**64 - 1).to_bytes(8, "little")
    (tmp_path / "driver.so").write_bytes(whole)
    said = without(manifest(tmp_path, tmp_path / "driver.so"))
    assert said == (
        f"Vulkan driver `{tmp_path}/driver.so`, which `{tmp_path}/driver.json` names, is damaged: its file ends after "
        f"200000 of at least {2**64 - 1} bytes. {FIX}"
    ), field


def test_a_manifest_that_is_nested_too_deep_is_damaged(tmp_path):
    """Seen: the loader's parser ran out of stack."""
    deep = tmp_path / "driver.json"
    deep.write_text('{"ICD": {"library_path": "./x.so"}, "more": ' + "[" * 200_000 + "]" * 200_000 + "}")
    said = f"driver file `{deep}` is damaged: its brackets are nested more than 64 deep. {FIX}"
    assert without(deep) == said


def test_a_manifest_of_two_mebibytes_is_damaged(tmp_path):
    large = tmp_path / "driver.json"
    large.write_text('{"ICD": {"library_path": "./x.so"}, "more": "' + "x" * 2**21 + '"}')
    size = large.stat().st_size
    said = f"driver file `{large}` is damaged: it has {size} bytes, and 1048576 are the most. {FIX}"
    assert without(large) == said


def test_a_manifest_that_is_a_pipe_is_damaged(tmp_path):
    """Seen: `vyre doctor` waited for ever for its other end."""
    os.mkfifo(tmp_path / "driver.json")
    said = without(tmp_path / "driver.json")
    assert said == f"driver file `{tmp_path}/driver.json` is damaged: it is no regular file. {FIX}"


def test_brackets_in_a_manifests_text_are_not_nested(tmp_path):
    whole = json.loads(Path(LLVMPIPE).read_text())
    whole["comment"] = '[{"' * 1000
    (tmp_path / "driver.json").write_text(json.dumps(whole))
    assert [name for name, *_ in answers(LISTING, tmp_path / "driver.json")] == ["llvmpipe"]


def test_a_driver_that_is_no_library_is_reported(tmp_path):
    library = tmp_path / "driver.so"
    said = f"Vulkan driver `{library}`, which `{tmp_path}/driver.json` names, is damaged: "
    assert without(manifest(tmp_path, library)) == f"{said}it cannot be read. {FIX}"
    library.write_text("I am no library")
    assert without(manifest(tmp_path, library)) == f"{said}it is no shared library. {FIX}"


@pytest.mark.parametrize("text", ['{"file_format', "", "no manifest", '{"ICD": {}}'])
def test_a_damaged_manifest_is_no_lack_of_memory(tmp_path, text):
    (tmp_path / "driver.json").write_text(text)
    damaged = tmp_path / "driver.json"
    assert without(damaged) == f"driver file `{damaged}` is damaged: it names no library. {FIX}"


def test_what_is_missing_is_no_damage(tmp_path):
    assert without(tmp_path / "absent.json") == (
        "no Vulkan driver was found. Fix: install the driver of the GPU, or a software one, on Debian with `apt-get "
        "install mesa-vulkan-drivers`."
    )
