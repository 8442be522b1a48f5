"""`vyre doctor` names the one command that mends a machine: on each system, in a container, under WSL, and beside GPUs.

The machines are folders that look like their roots. Their os-release files say what those of the systems say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vyre._tools import looked_for as _looked_for
from vyre._tools import remedies as _remedies
from vyre._tools.remedies import SYSTEMS, Machine, Remedy, Vulkan, mend, this_machine

RELEASES = {
    "Debian": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n',
    "Ubuntu": 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n',
    "Fedora": 'NAME="Fedora Linux"\nID=fedora\nPRETTY_NAME="Fedora Linux 41 (Container Image)"\n',
    "Arch": 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\n',
}
RELATED = {
    "Linux Mint": ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', "Ubuntu"),
    "Raspbian": ("# a comment = no row\nID=raspbian\nID_LIKE=debian\n", "Debian"),
    "Rocky": ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "Fedora"),
    "Manjaro": ("ID=manjaro\nID_LIKE=arch\n", "Arch"),
    "NixOS": ("ID=nixos\n", None),
    "broken": ("ID=\"debian\nPRETTY_NAME='x\n", None),
}
NOTHING = Vulkan(loader=False, drivers=(), chosen=False, device=False, gpu=False)
SOFTWARE = Vulkan(loader=True, drivers=("libvulkan_lvp.so",), chosen=False, device=True, gpu=False)


def put(root: Path, path: str, text: str = "") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def user(monkeypatch):
    """Someone who is not root."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def machine_of(root: Path, system: str) -> Machine:
    put(root, "etc/os-release", RELEASES[system])
    return this_machine(root)


def test_every_row_is_tried():
    assert {row.name for row in SYSTEMS} == set(RELEASES)


@pytest.mark.parametrize(
    ("system", "command"),
    [
        (
            "Debian",
            "sudo apt-get update && sudo apt-get install -y --no-install-recommends libvulkan1 mesa-vulkan-drivers",
        ),
        (
            "Ubuntu",
            "sudo apt-get update && sudo apt-get install -y --no-install-recommends libvulkan1 mesa-vulkan-drivers",
        ),
        ("Fedora", "sudo dnf install -y vulkan-loader mesa-vulkan-drivers"),
        ("Arch", "sudo pacman -Syu --needed --noconfirm vulkan-icd-loader vulkan-swrast"),
    ],
)
def test_a_machine_without_vulkan_is_told_what_to_install(tmp_path, user, system, command):
    machine = machine_of(tmp_path, system)
    assert mend(machine, NOTHING) == Remedy("the Vulkan loader and a Vulkan driver are missing", command, installs=True)
    # A loader alone finds nothing to load, and a driver alone is not found; the command is the same.
    assert mend(machine, NOTHING._replace(loader=True)) == Remedy("a Vulkan driver is missing", command, installs=True)
    alone = NOTHING._replace(drivers=("libvulkan_lvp.so",))
    assert mend(machine, alone) == Remedy("the Vulkan loader is missing", command, installs=True)
    works_not = alone._replace(loader=True)
    assert mend(machine, works_not) == Remedy("no Vulkan driver here works", command, installs=True)
    assert mend(machine, SOFTWARE) is None


@pytest.mark.parametrize("name", RELATED)
def test_related_systems_are_mended_as_the_one_they_are_like(tmp_path, name):
    text, system = RELATED[name]
    put(tmp_path, "usr/lib/os-release", text)
    found = this_machine(tmp_path).system
    assert (found.name if found else None) == system
    remedy = mend(this_machine(tmp_path), NOTHING)
    assert bool(remedy.command) == (system is not None)


def test_root_needs_no_sudo_and_a_container_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    put(tmp_path, ".dockerenv")
    machine = machine_of(tmp_path, "Fedora")
    assert machine.container
    assert mend(machine, NOTHING).command == "dnf install -y vulkan-loader mesa-vulkan-drivers"
    other = tmp_path / "other"
    put(other, "run/.containerenv")
    assert this_machine(other).container
    assert not this_machine(tmp_path / "none").container


def test_wsl_is_known_by_its_kernel(tmp_path, user):
    put(tmp_path, "proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n")
    machine = machine_of(tmp_path, "Ubuntu")
    assert machine.wsl
    assert mend(machine, NOTHING).command.endswith("libvulkan1 mesa-vulkan-drivers")
    put(tmp_path, "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
    assert not this_machine(tmp_path).wsl


def card(root: Path, maker: str, number: int = 128) -> None:
    put(root, f"dev/dri/renderD{number}")
    put(root, f"sys/class/drm/renderD{number}/device/vendor", f"{maker}\n")


@pytest.mark.parametrize(
    ("system", "maker", "packages"),
    [
        ("Arch", "0x1002", "vulkan-icd-loader vulkan-swrast vulkan-radeon"),
        ("Arch", "0x8086", "vulkan-icd-loader vulkan-swrast vulkan-intel"),
        ("Arch", "0x10de", "vulkan-icd-loader vulkan-swrast nvidia-utils"),
        ("Debian", "0x1002", "libvulkan1 mesa-vulkan-drivers"),
        ("Debian", "0x10de", "libvulkan1 mesa-vulkan-drivers nvidia-vulkan-icd"),
        ("Ubuntu", "0x10de", "libvulkan1 mesa-vulkan-drivers libnvidia-gl-535"),
        ("Fedora", "0x10de", "vulkan-loader mesa-vulkan-drivers xorg-x11-drv-nvidia-libs"),
    ],
)
def test_the_driver_of_the_gpu_comes_along(tmp_path, user, system, maker, packages):
    card(tmp_path, maker)
    put(
        tmp_path,
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n",
    )
    machine = machine_of(tmp_path, system)
    for vulkan in (NOTHING, SOFTWARE):
        remedy = mend(machine, vulkan)
        assert remedy.command.endswith(f" {packages}")
    assert remedy.missing == "the Vulkan driver of the GPU is missing"
    assert mend(machine, SOFTWARE._replace(gpu=True)) is None


def test_the_open_kernel_module_has_its_version_elsewhere(tmp_path):
    put(
        tmp_path,
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)\n",
    )
    assert this_machine(tmp_path).nvidia == "580"


def test_a_container_is_given_its_gpu_by_whoever_starts_it(tmp_path, user):
    put(tmp_path, ".dockerenv")
    put(tmp_path, "dev/nvidia0")
    machine = machine_of(tmp_path, "Ubuntu")
    assert machine.gpus == ("nvidia",)
    assert mend(machine, SOFTWARE).command == (
        "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics IMAGE"
    )
    assert mend(machine, NOTHING).installs


def test_a_node_that_this_user_may_not_open_is_a_matter_of_groups(tmp_path, user, monkeypatch):
    card(tmp_path, "0x8086")
    monkeypatch.setattr(os, "access", lambda path, mode: "renderD" not in str(path))
    intel = SOFTWARE._replace(drivers=("libvulkan_intel.so", "libvulkan_lvp.so"))
    machine = machine_of(tmp_path, "Debian")
    assert mend(machine, intel) == Remedy(
        "this user may not open /dev/dri/renderD128", "sudo usermod -aG render,video $USER && exec su - $USER"
    )
    assert mend(machine._replace(container=True), intel).command == (
        "docker run --device /dev/dri --group-add $(stat -c %g /dev/dri/renderD128) IMAGE"
    )
    assert mend(machine, intel._replace(gpu=True)) is None


def test_a_variable_that_leaves_out_every_driver_is_unset(tmp_path, monkeypatch):
    remedy = mend(machine_of(tmp_path, "Arch"), NOTHING._replace(loader=True, chosen=True))
    assert remedy.command.startswith("unset VK_DRIVER_FILES ")
    for name in remedy.command.split()[1:]:
        monkeypatch.delenv(name, raising=False)
    assert not _looked_for.drivers_left_out()
    monkeypatch.setenv("VK_DRIVER_FILES", "/nonexistent")
    assert _looked_for.drivers_left_out()
    assert _looked_for.named_drivers() == ()


@pytest.mark.parametrize("row", SYSTEMS, ids=lambda row: row.name)
def test_the_commands_are_shell(tmp_path, row):
    """Each is read by the shell it is meant for, and names packages alone."""
    for maker in ("amd", "intel", "nvidia"):
        machine = Machine(row, row.name, False, False, False, (maker,), (), "580")
        command = mend(machine, NOTHING).command
        assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
        assert "{" not in command


def test_names_of_debian_are_those_of_its_archive():
    (debian,) = [row for row in SYSTEMS if row.name == "Debian"]
    if shutil.which("apt-cache") is None or "ID=debian" not in _remedies._read(Path("/etc/os-release")):
        pytest.skip("no Debian here")
    for package in (debian.loader, debian.software):
        done = subprocess.run(["apt-cache", "show", package], capture_output=True, text=True, check=False)
        if not done.stdout:
            pytest.skip("no package lists here")
        assert f"Package: {package}\n" in done.stdout


@pytest.mark.parametrize("loader", [True, False])
def test_where_cuda_works_an_nvidia_machine_lacks_nothing(loader):
    row = next(each for each in SYSTEMS if each.name == "Debian")
    machine = Machine(row, "Debian", True, False, True, ("nvidia",), (), "")
    vulkan = NOTHING._replace(loader=loader)
    assert mend(machine, vulkan) is not None
    assert mend(machine, vulkan._replace(cuda=True)) is None
    # A GPU of another maker still wants its driver.
    assert mend(machine._replace(gpus=("amd", "nvidia")), vulkan._replace(cuda=True)) is not None
