"""Hash functions that work through a message block by block: the kernels and procedures that all of them share.

Blocks are read from messages, the last ones are padded, and states are carried from dispatch to dispatch. One
invocation hashes one message.
"""

from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._calls.messages import Messages
from vyre.std._hashing.algorithm import Algorithm, begin_words, digest_words, mix_block, state_of, state_words, swapped

__all__ = ["compress", "digests", "digests_from", "form_of", "loaded_as", "padded_block"]

_TURNS = 4096  # blocks of a message in one dispatch, which keeps a dispatch short


def whole_block(words: Any, start: u32, block: Any, count: int, alignment: int) -> list[u32]:
    """The ``count`` words of a block of a message, as they lie in memory; ``words`` are as ``loaded_as`` says."""
    if alignment == 16:
        first = (start >> 4) + block * (count // 4)
        quads = [words[first + k] for k in range(count // 4)]
        return [word for quad in quads for word in (quad.x, quad.y, quad.z, quad.w)]
    first = (start >> 2) + block * count
    if alignment == 4:
        return [words[first + k] for k in range(count)]
    shift = start % 4 * 8
    pairs = [words[first + k] for k in range(count + 1)]
    return [pairs[k] >> shift | pairs[k + 1] << 1 << (31 - shift) for k in range(count)]


def loaded_as(alignment: int) -> Any:
    """The type of the elements by which kernels load messages of an alignment of ``form_of``."""
    return vec4u32 if alignment == 16 else u32


def form_of(algorithm: Algorithm, messages: Messages) -> int:
    """The alignment that the kernels for these messages take for granted: 1, 4 or 16 bytes."""
    if messages.alignment == 16 and algorithm.block % 16 == 0:
        return 16
    return 4 if messages.aligned else 1


def padded_block(
    words: Any, start: u32, block: Any, full: u32, rest: u32, count: int, mark: int, alignment: int
) -> list[u32]:
    """The words of a block, as they would lie in memory: the message's bytes, then the mark, then zeros.

    Args:
        words, start, count, alignment: as for ``whole_block``.
        block: which; the first ``full`` are of the message alone, and ``rest`` bytes of it are in the one after them.
        mark: the byte behind the message.
    """
    w = [u32(0) for k in range(count)]
    if block < full:
        for k, word in enumerate(whole_block(words, start, block, count, alignment)):
            w[k] = word
    elif block == full:
        if rest == 0:
            w[0] = u32(mark)
        else:
            shift = rest % 4 * 8
            kept, marked = (1 << shift) - 1, u32(mark) << shift
            for k, word in enumerate(whole_block(words, start, block, count, alignment)):
                ended = word & kept | marked
                if k > 0:
                    ended = ended if rest >= 4 * k else u32(0)
                w[k] = word if rest >= 4 * k + 4 else ended
    return w


def finish_block(w: list[u32], bits_high: u32, bits_low: u32, algorithm: Algorithm) -> None:
    """Write what the last block ends with: the number of bits, or a sponge's last bit."""
    if algorithm.length == 0:
        w[-1] |= 0x80000000
    elif algorithm.big_endian:
        w[-2], w[-1] = swapped(bits_high), swapped(bits_low)
    else:
        w[-2], w[-1] = bits_low, bits_high


@cache
def compress(algorithm: Algorithm, alignment: int, turns: int = _TURNS) -> vyre.Kernel:
    """The kernel that brings each message forward by some blocks."""
    element = loaded_as(alignment)

    @vyre.kernel(workgroup_size=64)
    def compress(
        words: In[element],
        starts: In[u32],
        lengths: In[u32],
        begin: In[u32],
        per: u32,
        before: u32,
        first: u32,
        state: InOut[u32],
        digests: Out[u32],
    ) -> None:
        """Bring the hash of each message forward from block ``first`` on, and write the digests of those that end.

        Args:
            begin: states before the first block.
            per: how many messages in a row begin with one of these states; 0 if all begin with the only one.
            before: the bits that this state has already taken in.
            state: the states of messages that do not end, word k of message i at ``[k * len(starts) + i]``.
        """
        i, count = vyre.gid(0), len(starts)
        if i < count:
            length = lengths[i]
            full, rest = length // algorithm.block, length % algorithm.block
            blocks = full + 1 + (1 if rest >= algorithm.block - algorithm.length else 0)
            if first < blocks:
                held = [u32(0) for k in range(algorithm.state)]
                if first == 0:
                    at = u32(0)
                    if per != 0:
                        at = i // per * algorithm.state
                    for k in vyre.unroll(range(algorithm.state)):
                        held[k] = begin[at + k]
                else:
                    for k in vyre.unroll(range(algorithm.state)):
                        held[k] = state[k * count + i]
                h = state_of(held, algorithm)
                end = min(first + turns, blocks)
                bits_low = (length << 3) + before
                bits_high = (length >> 29) + (1 if bits_low < before else 0)
                for block in range(first, end):
                    w = padded_block(words, starts[i], block, full, rest, algorithm.words, algorithm.mark, alignment)
                    if block + 1 == blocks:
                        finish_block(w, bits_high, bits_low, algorithm)
                    mix_block(h, w, algorithm)
                if end == blocks:
                    for k, word in enumerate(digest_words(h, algorithm)):
                        digests[i * (algorithm.digest // 4) + k] = word
                else:
                    for k, word in enumerate(state_words(h, algorithm)):
                        state[k * count + i] = word

    return compress


@cache
def digests_from(algorithm: Algorithm, alignment: int, turns: int = _TURNS) -> Any:
    """The procedure that hashes messages from given states on; it gives the words of their digests, one in each row."""
    kernel, element = compress(algorithm, alignment, turns), loaded_as(alignment)

    @vouched
    @vyre.procedure(name=f"std.{algorithm.name}_from_{alignment}")
    def digests_from(
        begin: In[u32], per: u32, before: u32, words: In[u32], starts: In[u32], lengths: In[u32], longest: u32
    ) -> vyre.ProcedureArray:
        """Args: longest: the largest of the lengths; the others are those of the kernel ``compress``."""
        count = starts.length
        blocks = (longest + algorithm.length) // algorithm.block + 1
        found = vyre.scratch(u32, count * (algorithm.digest // 4), name="digests")
        held = vyre.size_select(blocks > turns, count * algorithm.state, 0)
        state = vyre.scratch(u32, held, zeros=True, name="state")
        for part in vyre.times(vyre.ceil_div(blocks, turns)):
            kernel(words.view(element), starts, lengths, begin, per, before, part * turns, state, found, grid=count)
        return found

    return digests_from


@cache
def digests(algorithm: Algorithm, alignment: int, turns: int = _TURNS) -> Any:
    """The procedure that hashes messages, of which the longest has ``longest`` bytes."""
    from_begin, begin = digests_from(algorithm, alignment, turns), begin_words(algorithm)

    @vyre.procedure(name=f"std.{algorithm.name}_{alignment}")
    def digests(words: In[u32], starts: In[u32], lengths: In[u32], longest: u32) -> Any:
        return from_begin(begin, 0, 0, words, starts, lengths, longest)

    return digests
