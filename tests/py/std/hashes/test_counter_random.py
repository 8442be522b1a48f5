"""Random numbers by counters, compared with Random123's known answers and with numpy's Philox."""

import numpy as np
import pytest

import vyre
from conftest import message, problem
from library_models import philox, random_words, threefry
from vyre.std import cumsum, philox4x32_10, random_u32, threefry2x32_20
from wrong_calls import wrong_calls

PI = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0]
ONES = 0xFFFFFFFF


def words(*values):
    return np.array(values, np.uint32)


def test_the_known_answers_of_random123(target):
    # kat_vectors: philox4x32 10 and threefry2x32 20
    for counter, key, wanted in (
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([ONES] * 4, [ONES] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (PI[:4], PI[4:], [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ):
        assert philox4x32_10(words(counter), words(*key), **target).tolist() == [wanted]
    for counter, key, wanted in (
        ([0] * 2, [0] * 2, [0x6B200159, 0x99BA4EFE]),
        ([ONES] * 2, [ONES] * 2, [0x1CB996FC, 0xBB002BE7]),
        (PI[:2], PI[2:4], [0xC4923A9C, 0x483DF7A0]),
    ):
        assert threefry2x32_20(words(counter), words(*key), **target).tolist() == [wanted]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 300])
def test_many_counters_are_the_definition(target, rng, n):
    counters, key = rng.integers(0, 2**32, (n, 4), dtype=np.uint32), rng.integers(0, 2**32, 2, dtype=np.uint32)
    found = philox4x32_10(counters, key, **target)
    assert found.dtype == np.uint32
    assert found.shape == (n, 4)
    assert np.array_equal(found, philox(counters, key))
    resident = philox4x32_10(vyre.array(counters, **target), key)
    assert isinstance(resident, vyre.Array)
    assert np.array_equal(resident.numpy(), found)
    pairs = counters[:, :2]
    assert np.array_equal(threefry2x32_20(pairs, key, **target), threefry(pairs, key))


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 1025])
def test_random_words_are_philox_of_the_index(target, n):
    seed = 0x123456789ABCDEF0
    found = random_u32(n, seed, **target)
    assert found.dtype == np.uint32
    assert np.array_equal(found, random_words(n, seed))


@pytest.mark.parametrize("n", [0, 1, 4, 5, 1025])
def test_a_resident_seed_gives_the_same_words_resident(target, n):
    seed = 0x123456789ABCDEF0
    found = random_u32(n, vyre.array(words(seed & ONES, seed >> 32), **target))
    assert isinstance(found, vyre.Array)
    assert (found.shape, found.dtype, found.backend) == ((n,), np.uint32, target["backend"])
    assert np.array_equal(found.numpy(), random_u32(n, seed, backend="reference"))


def test_a_step_takes_the_seed_of_a_procedures_array(target):
    @vyre.procedure
    def sums_of(seed: vyre.In[vyre.u32]) -> vyre.ProcedureArray:
        return cumsum(random_u32(6, seed))

    wanted = np.cumsum(random_u32(6, 7 + 2**32, backend="reference"), dtype=np.uint32)
    assert np.array_equal(sums_of(words(7, 1), **target), wanted)


test_wrong_arguments_are_refused = wrong_calls("counter_random", globals())


@pytest.mark.parametrize("n", [0, 1, 4, 6, 1027])
def test_a_procedure_returns_the_words_of_either_seed(target, n):
    @vyre.procedure
    def of_array(seed: vyre.In[vyre.u32], count: vyre.u32):
        return random_u32(count, seed)

    @vyre.procedure
    def of_number(count: vyre.u32):
        return random_u32(count, 7 + 2**32)

    wanted = random_words(n, 7 | 1 << 32).tolist()
    assert of_array(words(7, 1), n, **target).tolist() == wanted
    assert of_number(n, **target).tolist() == wanted


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_step_refuses_words_of_another_count_than_two(length):
    @vyre.procedure
    def drawn(seed: vyre.In[vyre.u32]):
        return random_u32(4, seed)

    @vyre.procedure
    def of_counters(counters: vyre.In[vyre.vec4u32], key: vyre.In[vyre.u32]):
        return philox4x32_10(counters, key)

    assert problem(lambda: drawn(np.zeros(length, np.uint32), backend="cpu"), vyre.ArgumentError) == (
        "argument `seed` of vyre.std.random_u32 must have two words, got shape (length(seed),)."
    )
    assert (
        problem(
            lambda: of_counters(np.zeros((5, 4), np.uint32), np.zeros(length, np.uint32), backend="cpu"),
            vyre.ArgumentError,
        )
        == "argument `key` of vyre.std.philox4x32_10 must have shape (2,), got shape (length(key),)."
    )


@pytest.mark.parametrize("n", [2**32 - 3, 2**32 - 1])
def test_a_step_refuses_as_many_words_as_a_call_does(n):
    @vyre.procedure
    def drawn(count: vyre.u32):
        return random_u32(count, 1)

    assert message(lambda: drawn(n, backend="cpu"), vyre.ArgumentError) == (
        "argument `n` of vyre.std.random_u32 must be an integer from 0 to 4294967292, got count. "
        "Fix: pass an integer from 0 to 4294967292."
    )


def test_the_fix_for_a_wide_seed_gives_the_words_of_its_number():
    seed = vyre.array(np.array([7 + 2**32], np.uint64), backend="cpu")
    assert message(lambda: random_u32(5, seed), vyre.BindingError) == (
        "argument `seed` of vyre.std.random_u32 must be an array of uint32, got one of uint64. "
        "Fix: pass an array of uint32."
    )
    wanted = random_u32(5, 7 + 2**32, backend="cpu")
    assert random_u32(5, seed.view(vyre.u32)).numpy().tolist() == wanted.tolist()

    @vyre.procedure
    def drawn(seed: vyre.In[vyre.u64]):
        return random_u32(5, seed)

    @vyre.procedure
    def mended(seed: vyre.In[vyre.u64]):
        return random_u32(5, seed.view(vyre.u32))

    with pytest.raises(vyre.BindingError, match="Fix: pass an array of uint32"):
        drawn(np.array([7 + 2**32], np.uint64), backend="cpu")
    assert mended(np.array([7 + 2**32], np.uint64), backend="cpu").tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", [[7, 1], words(7, 1)])
def test_the_fix_for_a_seed_on_the_host_gives_the_words_of_its_number(seed):
    with pytest.raises(vyre.ArgumentError) as caught:
        random_u32(5, seed, backend="cpu")
    assert str(caught.value).endswith(
        "Fix: pass an integer from 0 to 18446744073709551615, or a resident array of two words."
    )
    resident = vyre.array(np.asarray(seed).astype(np.uint32))
    assert random_u32(5, resident).numpy().tolist() == random_u32(5, 7 + 2**32, backend="cpu").tolist()
