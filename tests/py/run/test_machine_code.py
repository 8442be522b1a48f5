"""``vyre.lower(program, "asm")`` prints the machine code of the cpu backend, all of it, and says what it is for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import capstone
import numpy as np
import pytest

import vyre
from conftest import message, problem
from vyre import BufferDecl, Expr, Node, Program, _core, fuzz
from vyre.conformance import cases

GOLDEN = Path(__file__).parents[1] / "golden"
SETS = ["sse41", "avx2", "avx512"]
GID = Expr.gid_x()
XOR = Program(
    [BufferDecl.read("a", 0, vyre.u32), BufferDecl.read("b", 1, vyre.u32), BufferDecl.output("out", 2, vyre.u32)],
    (64, 1, 1),
    [Node.if_(GID < Expr.buf_len("out"), [Node.store("out", GID, Expr.load("a", GID) ^ Expr.load("b", GID))])],
)


def some_programs() -> list[Program]:
    corpus = [step.program for case in cases()[::15] for step in case.steps[:1]]
    return [*corpus, *(fuzz.generate(seed).program for seed in range(20))]


@pytest.fixture(scope="module", params=SETS)
def listed(request: pytest.FixtureRequest) -> list[tuple[Program, str, tuple]]:
    """Programs with their text and the core's bytes."""
    return [
        (each, vyre.lower(each, "asm", instructions=request.param), _core._machine_code(each, True, request.param))
        for each in some_programs()
    ]


def rows(text: str) -> list[tuple[int, str]]:
    """The offset of each instruction and its text."""
    found = re.findall(r"^  (\w{5,})  (.*)$", text.split("\n; constants\n")[0], re.MULTILINE)
    return [(int(offset, 16), " ".join(instruction.split())) for offset, instruction in found]


def plain(text: str) -> str:
    """An instruction without what disassemblers write in different ways."""
    text = re.sub(r"(?:[xyz]mm)?(?:byte|d?word|qword) (?:ptr|bcst)", "", text.split("#")[0].lower())
    text = re.sub(r"0x[0-9a-f]+|\b[0-9]+\b", lambda number: str(int(number[0], 0) % 2**32), text)
    text = re.sub(r"- ?(\d+)", lambda number: f"+{-int(number[1]) % 2**32}", text)
    return re.sub(r"\*1\b|\+0(?=\])|\s+", "", text).replace(",+", ",").replace("xchgax,ax", "nop")


def by_binutils(code: bytes, path: Path) -> list[tuple[int, str]]:
    path.write_bytes(code)
    command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "-w", "--no-show-raw-insn", path]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(int(row[1], 16), row[2]) for row in re.finditer(r"^ *(\w+):\s+(.*)$", done, re.MULTILINE)]


def test_the_text_is_what_binutils_make_of_the_bytes(listed, tmp_path):
    """Every instruction, in order and without gaps, with its labels and names put back into addresses."""
    for program, text, (_, _, _, _, code, _, constants, context) in listed:
        end = constants[0] if constants else len(code)
        places = {name: at for at, name in re.findall(r"^  (\w+)  (c\d+): ", text, re.MULTILINE)}
        for label, at in re.findall(r"^(\w+):\n(?:;.*\n|\n)*  (\w+)  ", text, re.MULTILINE):
            places[label] = at
        names = {name: offset for offset, name in context.items()}
        shown, known = rows(text), by_binutils(code[:end], tmp_path / "code")
        assert [at for at, _ in shown] == [at for at, _ in known], program
        for at, (offset, instruction) in enumerate(shown):
            jump = re.fullmatch(r"(j\w+|call) (\w+)", instruction)
            if jump:
                instruction = f"{jump[1]} 0x{places[jump[2]]}"
            elif constant := re.search(r"\[(c\d+)\]", instruction):
                away = int(places[constant[1]], 16) - (shown[at + 1][0] if at + 1 < len(shown) else end)
                instruction = instruction.replace(constant[0], f"[rip+{away:#x}]")
            elif member := re.search(r"\[([a-z][\w.]*)\]", instruction):
                if member[1] in names:
                    instruction = instruction.replace(member[0], f"[r15+{names[member[1]]}]")
            assert plain(instruction) == plain(known[at][1]), f"at {offset:x} of\n{program.to_text()}"


NOT_IN_SSE41 = {"popcnt", "lzcnt", "tzcnt", "movbe", "crc32"}
GROUPS_OF_SSE41 = {"sse1", "sse2", "ssse3", "sse41", "cmov", "mode64", "branch_relative", "jump", "call", "ret"}
PREFIXES, AVX = b"\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", (0xC4, 0xC5, 0x62)


def test_code_for_sse41_has_only_what_processors_without_avx_run():
    machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    machine.detail = True
    for program in some_programs():
        _, _, _, _, code, _, constants, _ = _core._machine_code(program, True, "sse41")
        end = constants[0] if constants else len(code)
        at = 0
        for each in machine.disasm(code[:end], 0):
            shown = f"{each.mnemonic} {each.op_str} of\n{program.to_text()}"
            assert each.bytes.lstrip(PREFIXES)[0] not in AVX, shown
            assert each.mnemonic not in NOT_IN_SSE41, shown
            assert {each.group_name(group) for group in each.groups} <= GROUPS_OF_SSE41, shown
            at = each.address + each.size
        assert at == end


def test_all_bytes_are_shown(listed):
    for _, text, (_, _, _, _, code, _, constants, _) in listed:
        end = constants[0] if constants else len(code)
        assert ".byte" not in text
        assert f"; {end} bytes of instructions, {len(code) - end} of constants\n" in text
        shown = re.findall(r"^  (\w+)  c\d+: ([^x\n]*(?:0x\w{8} ?)+)(?:x (\d+))?$", text, re.MULTILINE)
        found = b""
        for _, words, times in shown:
            found += b"".join(int(word, 16).to_bytes(4, "little") for word in words.split()) * int(times or 1)
        assert found == code[end:]
        assert [int(at, 16) for at, _, _ in shown] == constants


def test_every_jump_goes_to_a_label_that_is_there_once(listed):
    for _, text, _ in listed:
        labels = re.findall(r"^(\w+):$", text, re.MULTILINE)
        assert len(set(labels)) == len(labels)
        jumps = re.findall(r"^  \w+  (?:j\w+|call) +(\w+)$", text, re.MULTILINE)
        assert jumps
        assert set(jumps) <= set(labels)


START, END = r"^; (?:%\d+ = )?(?:bounded )?", r".*?(?:   ; line \d+: (.*))?$"  # of the line above an instruction's code


def test_effects_name_the_line_that_they_come_from(listed):
    """A store or an atomic of slot k is for a line that names the buffer of slot k."""
    found = 0
    for program, text, _ in listed:
        effects = re.findall(rf"{START}(store_buffer|atomic_\w+) b(\d+)\b{END}", text, re.MULTILINE)
        for effect, slot, line in effects:
            assert line, f"{effect} has no line in\n{text[:2000]}"
            assert bound_name(program, int(slot)) in written_out(line, text), text[:2000]
            found += 1
        for kept, line in re.findall(rf"{START}(loop|barrier|return|break)\b{END}", text, re.MULTILINE):
            assert kept in line, text[:2000]
            found += 1
    assert found > 100


def written_out(line: str, text: str) -> str:
    """A line of the program, and those of the expressions in it."""
    definitions = dict(re.findall(r"^; +\d+ +(%\d+) = (.*)$", text, re.MULTILINE))
    lines, known = [line], set()
    for each in lines:
        names = set(re.findall(r"%\d+", each)) - known
        known |= names
        lines.extend(definitions[name] for name in sorted(names))
    return "\n".join(lines)


def bound_name(program: Program, slot: int) -> str:
    unbound = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
    return [each.name for each in program.buffers if each.access not in unbound][slot]


def test_the_line_is_that_of_the_program_in_front():
    program = Program(
        [BufferDecl.output("out", 0, vyre.u32)],
        (1, 1, 1),
        [Node.store("out", 3, 4), Node.if_(GID < 5, [Node.store("out", GID, 7)]), Node.store("out", 8, 9)],
    )
    text = vyre.lower(program, "asm", optimize=["compilation"], instructions="avx2")
    assert program.to_text().splitlines() == re.findall(r"^; +\d+(?:  (.*))?$", text, re.MULTILINE)
    for number, line in enumerate(program.to_text().splitlines(), 1):
        if "out[" in line or line.startswith(("if", "}")):
            assert f"   ; line {number}: {line.strip()}\n" in text


def test_a_branch_that_became_a_select_has_no_line():
    program = Program(
        [BufferDecl.output("out", 0, vyre.u32)],
        (1, 1, 1),
        [
            Node.let("x", 1),
            Node.if_(GID < 5, [Node.assign("x", 2)]),
            Node.if_(GID < 6, [Node.store("out", GID, Expr.var("x"))]),
        ],
    )
    text = vyre.lower(program, "asm", instructions="avx2")
    assert "= select " in text
    assert re.search(r"^; if %\d+$", text, re.MULTILINE)
    assert re.search(r"^; .*store_buffer .*; line \d+: out\[", text, re.MULTILINE)


@pytest.mark.parametrize("instructions", SETS)
def test_the_text_is_the_same_in_every_process(instructions):
    here = vyre.lower(XOR, "asm", instructions=instructions)
    script = (
        "import sys, vyre\n"
        f"text = vyre.lower(vyre.parse(sys.stdin.read()), 'asm', instructions={instructions!r})\n"
        "sys.stdout.write(text)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=XOR.to_text(), capture_output=True, text=True, check=True)
    assert done.stdout == here
    golden = GOLDEN / f"xor.{instructions}"
    if os.environ.get("VYRE_UPDATE_GOLDEN") == "1":
        golden.write_text(here, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == here


def test_the_machines_best_set_comes_unasked():
    here = _core._devices("cpu")[0]["probes"]["machine_code"]
    assert vyre.lower(XOR, "asm").startswith(f"; {here}: ")


def private(invocations: int) -> Program:
    return Program(
        [BufferDecl.output("out", 0, vyre.u32), BufferDecl.private("mine", 4096, vyre.u32)],
        (invocations, 1, 1),
        [Node.store("mine", GID, 1), Node.store("out", GID, Expr.load("mine", GID + 1))],
    )


@pytest.mark.parametrize(
    ("bad", "good", "reason"),
    [
        (
            lambda: vyre.lower(private(8192), "asm", instructions="avx2"),
            lambda: vyre.lower(private(4096), "asm", instructions="avx2"),
            "the program has no machine code and is interpreted, because its Private buffers take more than 64 MiB for "
            "the invocations that run at a time. Fix: declare smaller ones, or a smaller workgroup_size.",
        ),
        (
            lambda: vyre.lower(XOR, "asm", optimize=False),
            lambda: vyre.lower(XOR, "asm", optimize=["compilation"]),
            'programs have no machine code without the row "compilation" of `optimize`. '
            'Fix: write optimize=["compilation"] for the code of the program as it is written.',
        ),
    ],
)
def test_programs_without_machine_code_say_why(bad, good, reason):
    assert message(bad, vyre.LoweringError) == reason
    assert good()


def test_a_program_that_is_refused_is_interpreted():
    given = {"out": 8192}
    expected = vyre.run(private(8192), given, 1, backend="reference")["out"]
    assert (vyre.run(private(8192), given, 1, backend="cpu")["out"] == expected).all()


def test_wrong_arguments_say_what_to_write():
    assert message(lambda: vyre.lower(XOR, "asm", instructions="sse"), vyre.ArgumentError) == (
        'argument `instructions` of vyre.lower must be "sse41", "avx2" or "avx512", got sse. '
        'Fix: pass "sse41", "avx2" or "avx512".'
    )
    assert message(lambda: vyre.lower(XOR, "asm", instructions=512), vyre.ArgumentError) == (
        "argument `instructions` of vyre.lower must be a str, got 512 (int). Fix: pass a str."
    )
    assert problem(lambda: vyre.lower(XOR, "ptx", instructions="avx2"), vyre.ArgumentError) == (
        "argument `instructions` of vyre.lower has no place with target 'ptx'."
    )


def test_without_capstone_the_error_has_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "capstone", None)
    assert message(lambda: vyre.lower(XOR, "asm"), vyre.LoweringError) == (
        "machine code as text needs the package capstone, which is not installed. Fix: pip install 'vyre[asm]'."
    )
    assert vyre.lower(XOR, "wgsl")


def test_bytes_that_are_no_instruction_are_shown_as_bytes():
    from vyre._arrays.machine_code import instructions_of

    found = instructions_of(b"\x90\x06\xc3")  # 06 has no meaning in 64-bit code
    assert [(each.offset, each.mnemonic) for each in found] == [(0, "nop"), (1, ".byte"), (2, "ret")]


def compiles(call) -> bool:
    """Whether the call makes machine code: the span `compile` within its dispatch."""
    with vyre.profile() as profile:
        call()
    names = [event.name for event in profile.events]
    return "compile" in names[len(names) - names[::-1].index("dispatch") :]


@vyre.kernel(workgroup_size=64)
def tripled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32], more: vyre.const):
    i = vyre.gid(0) + (vyre.gid(1) + vyre.gid(2)) * 64
    y[i] = x[i] * 3 + more


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_call_of_many_invocations_is_compiled_along_each_axis(axis):
    grid, count = [64, 1, 1], 640_000
    grid[axis] *= count // 64
    x = vyre.array(np.arange(count, dtype=np.uint32), backend="cpu")
    y = vyre.empty(count, vyre.u32, backend="cpu")
    assert compiles(lambda: tripled(x, y, 100 + axis, grid=tuple(grid)))  # a program that nothing has run before
    assert np.array_equal(y.numpy(), x.numpy() * 3 + 100 + axis)


def looping(seed: int, *bounds: Expr, group: int = 256) -> Program:
    """Loops in each other around one line, in one workgroup."""
    turn = [Node.assign("v", Expr.var("v") * 3 + seed)]
    for depth, bound in enumerate(bounds):
        turn = [Node.loop(f"k{depth}", 0, bound, turn)]
    body = [Node.let("v", GID), *turn, Node.store("out", GID, Expr.var("v"))]
    buffers = [BufferDecl.read("turns", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)]
    return Program(buffers, (group, 1, 1), body)


def called(program: Program, turns: int) -> bool:
    """Whether a call of one workgroup of the looping program makes machine code; its bytes are right."""
    out = vyre.empty(program.workgroup_size[0], vyre.u32, backend="cpu")
    given = vyre.array(np.array([turns], np.uint32), backend="cpu")
    made = compiles(lambda: program(given, out, workgroups=1))
    assert np.array_equal(out.numpy(), expected(program, turns))
    return made


def expected(program: Program, turns: int) -> np.ndarray:
    given = {"turns": np.array([turns], np.uint32), "out": program.workgroup_size[0]}
    return vyre.run(program, given, 1, backend="reference")["out"]


TURNS = Expr.load("turns", 0)


def test_a_long_loop_in_a_small_call_is_compiled_at_once():
    assert called(looping(11, Expr.u32(20_000)), 0)
    assert called(looping(12, Expr.u32(200), Expr.u32(100)), 0)


def test_a_short_loop_in_a_small_call_is_interpreted():
    assert not called(looping(13, Expr.u32(20)), 0)


def test_loops_whose_turns_are_not_known_are_taken_for_long_where_they_nest():
    assert called(looping(14, TURNS, TURNS), 2)


def test_a_loop_that_proved_long_is_compiled_at_the_next_call():
    program = looping(15, TURNS)
    assert not called(program, 50_000)
    assert called(program, 50_000)
    program = looping(16, TURNS)
    assert not called(program, 2)
    assert not called(program, 2)


def test_what_a_call_has_computed_that_timed_out_counts_too():
    """Seen: such calls were interpreted for ever, and timed out for ever."""
    program = looping(17, TURNS)

    def run(turns: int, timeout: float | None = None) -> None:
        given = {"turns": np.array([turns], np.uint32), "out": program.workgroup_size[0]}
        vyre.run(program, given, 1, backend="cpu", timeout=timeout)

    with pytest.raises(vyre.DispatchTimeoutError):
        run(2**32 - 1, timeout=0.2)
    assert compiles(lambda: run(2))


def test_calls_of_few_invocations_are_compiled_when_they_have_been_many():
    program = looping(17, Expr.u32(1), group=1)
    calls = [called(program, 0) for _ in range(100)]
    assert calls.count(True) == 1
    assert calls.index(True) > 50


@pytest.mark.parametrize("atomic", ["atomic ", ""])
def test_a_load_whose_value_nothing_uses_reads_nothing(atomic):
    """Seen: its index was not computed, because nothing needed it, and the load read memory at what a register held."""
    program = vyre.parse(
        f"""vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0
buffer words: workgroup {atomic}u32 count 2

words[0] = 19
%0 = words[0]
out[0] = cast(u32, call("primitive.u64.sub", pack(u64, 0, words[%0 % 2]), pack(u64, 0, words[0]))) + %0
"""
    )
    # The upper half of the difference is dropped, and the lower one is 0.
    for _ in range(70):
        assert vyre.run(program, {"out": np.zeros(1, np.uint32)}, 1, backend="cpu")["out"].tolist() == [19]


@vyre.kernel
def added(a: vyre.In[vyre.vec4u32], out: vyre.Out[vyre.vec4u32]):
    i = vyre.gid()
    out[i] = a[i] + vyre.vec4u32(1, 2, 3, 4)


@pytest.mark.parametrize("begin", [0, 1])
def test_results_of_four_words_that_outgrow_the_caches_have_every_element(begin):
    """64 MiB and more are stored past the caches; a row that begins at the second element is not aligned to vectors."""
    count = (17 << 18) + 3
    given = np.random.default_rng(9).integers(0, 2**32, (count, 4), dtype=np.uint32)
    out = vyre.array(np.full((count + begin, 4), 7, np.uint32), backend="cpu")
    added(vyre.array(given, backend="cpu"), out[begin:])
    got = out.numpy()
    assert (got[:begin] == 7).all()
    np.testing.assert_array_equal(got[begin:], given + np.array([1, 2, 3, 4], np.uint32))
