"""What calls choose by backend stands in one table."""

from __future__ import annotations

import ast
from pathlib import Path

import vyre
from vyre import std
from vyre.std._calls.routes import ROUTES

FOLDER = Path(std.__file__).parent
BACKENDS = {"reference", "cpu", "vulkan", "cuda"}


def test_every_backend_has_a_row():
    assert set(ROUTES) == BACKENDS
    assert {device.backend for device in vyre.devices()} <= BACKENDS


def test_no_other_file_names_a_backend():
    named = set()
    for path in FOLDER.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.Constant) and node.value in BACKENDS for node in ast.walk(tree)):
            named.add(path.name)
    assert named == {"routes.py"}
