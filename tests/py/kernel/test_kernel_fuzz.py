"""Random kernels give what Python gives when it runs the same source on integers."""

import random

import pytest

import fuzz_kernels
from kernel_comparison import Array, compare
from kernel_source import ATOMICS, Source


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_kernels_give_what_python_gives(first):
    for seed in range(first, first + 50):
        compare(seed, is_plain=True)


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_kernels_of_all_types_and_arrays_give_what_python_gives(first):
    for seed in range(first, first + 20):
        compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize(("is_plain", "count"), [(True, 10_000), (False, 3_000)])
def test_thousands_of_random_kernels_give_what_python_gives(is_plain, count):
    first = random.SystemRandom().randrange(2**40)
    print(f"first seed {first}")
    for seed in range(first, first + count):
        compare(seed, is_plain=is_plain)


def test_random_kernels_have_every_kind_of_array_and_type():
    texts = "".join(Source(seed).text for seed in range(120))
    for part in (
        *("vyre.i32(", "vyre.u64(", ") // 8)", "vyre.local(vyre.u8", "vyre.shared(vyre.u16", "vyre.barrier()"),
        *("m[vyre", "q[i, ", "n8[", "t8[", "h[i] =", "g[i] =", "break", "continue"),
        *(f".atomic_{op}(" for op in ATOMICS),
    ):
        assert texts.count(part) > 5, part


@pytest.mark.parametrize("wrong", ["atomic_add", "atomic_max", "__setitem__", "__getitem__"])
def test_a_wrong_array_of_python_is_noticed(wrong, monkeypatch):
    """The comparison can fail: one method of Python's arrays forgets what it is given, or gives 0."""
    monkeypatch.setattr(Array, wrong, lambda *_: 0)

    def compare_some():
        for seed in range(40):
            compare(seed, ["reference"])

    with pytest.raises(AssertionError):
        compare_some()


def test_the_command_divides_its_seeds_among_processes(capsys):
    assert fuzz_kernels.main(["--first", "7", "--count", "5", "--jobs", "2", "--backend", "reference"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "5 wide kernels from seed 7 on: 5 agree on reference, 0 do not."


def test_the_command_reports_a_seed_that_differs_and_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(Array, "__getitem__", lambda *_: 0)
    assert fuzz_kernels.main(["--first", "0", "--count", "6", "--jobs", "1", "--backend", "reference"]) == 1
    *lines, total = capsys.readouterr().out.splitlines()
    assert any(line.startswith("seed ") and "on reference, array" in line for line in lines)
    assert " 0 do not." not in total
