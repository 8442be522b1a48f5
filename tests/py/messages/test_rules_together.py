"""Which rules speak when one mistake touches several, and in which order: docs/rules.md says so in prose."""

from __future__ import annotations

import pytest

import vyre

# What is shown: a program, and every broken rule with its place.
TOGETHER = {
    "Order": (
        """\
vyre 1
workgroup_size 1 1 1

let k = 1
return
loop k in 1i32..2 {
}
let later = 1 + 1i32
""",
        ["V008 at entry[2]", "V015 at entry[2]", "V026 at entry[2]", "V021 at entry[3].value"],
    ),
    "A wrong number of arguments hides their types": (
        """\
vyre 1
workgroup_size 1 1 1

let r = call("primitive.math.add", 1i32)
""",
        ["V032 at entry[0].value"],
    ),
    "A wrong number of lanes does not": (
        """\
vyre 1
workgroup_size 1 1 1

let r = pack(u64, 1i32)
""",
        ["V027 at entry[0].value", "V027 at entry[0].value"],
    ),
    "An unsupported cast has its target type": (
        """\
vyre 1
workgroup_size 1 1 1

let right = lane(cast(vec4<u32>, 1u64), 3)
let wrong = cast(vec4<u32>, 1u64) + 1
""",
        ["V012 at entry[0].value.value", "V012 at entry[1].value.left", "V021 at entry[1].value"],
    ),
    "An empty name is a name": (
        """\
vyre 1
workgroup_size 1 1 1

let "" = 1i32
let sum = "" + 1
let "" = 2
""",
        ["V033 at entry[0]", "V021 at entry[1].value", "V033 at entry[2]"],
    ),
    "Barriers and axes of size 0": (
        """\
vyre 1
workgroup_size 0 64 1

if lid.x {
  barrier
}
if lid.y {
  barrier
}
""",
        ["V003 at workgroup_size[0]", "V010 at entry[1].then[0]"],
    ),
}


@pytest.mark.parametrize("title", TOGETHER)
def test_the_rules_that_speak_of_a_program(title):
    text, expected = TOGETHER[title]
    assert [f"{each.rule} at {each.place.path}" for each in vyre.validate(vyre.parse(text))] == expected
