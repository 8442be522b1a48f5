"""Backends for `vyre fuzz --backend faulty:name`: the reference with a fault each."""

from __future__ import annotations

import os
import time

import vyre


def right(program, inputs, workgroups, *, device=None, optimize=True):
    return vyre.run(program, inputs, workgroups, backend="reference")


def rotates_right(program, inputs, workgroups, *, device=None, optimize=True):
    """Rotates right where the program asks for left."""
    return right(vyre.parse(program.to_text().replace("rotl(", "rotr(")), inputs, workgroups)


def forgets_barriers_when_optimised(program, inputs, workgroups, *, device=None, optimize=True):
    """Loses what a workgroup wrote before its last barrier: a buffer of zeros comes back."""
    result = right(program, inputs, workgroups)
    if optimize and "barrier" in program.to_text():
        for array in result.values():
            array[...] = 0
    return result


def crashes_on_select(program, inputs, workgroups, *, device=None, optimize=True):
    if "select(" in program.to_text():
        os.abort()
    return right(program, inputs, workgroups)


def hangs_on_popcount(program, inputs, workgroups, *, device=None, optimize=True):
    if "popcount(" in program.to_text():
        time.sleep(1000)
    return right(program, inputs, workgroups)


def refuses_loops(program, inputs, workgroups, *, device=None, optimize=True):
    if "loop " in program.to_text():
        raise vyre.CapabilityError("3 loops exceed maxLoops, which allows 0. Fix: unroll them.")
    return right(program, inputs, workgroups)


def raises(program, inputs, workgroups, *, device=None, optimize=True):
    if "rotl(" in program.to_text():
        raise RuntimeError("no rotate")
    return right(program, inputs, workgroups)


_words = {}


def keeps_uniforms(program, inputs, workgroups, *, device=None, optimize=True):
    """Reads Uniform buffers as they were in the call before of the same program."""
    now = {decl.name: inputs[decl.name] for decl in program.buffers if decl.access == vyre.BufferAccess.Uniform}
    key = (program, optimize)
    before, _words[key] = _words.get(key, now), now
    return right(program, {**inputs, **before}, workgroups)
