"""Automata that find many byte strings, built on the host.

`Automaton` is that of Aho and Corasick for patterns that are read from their ends to their beginnings: text is scanned
from right to left, so that the state at a position knows every pattern that begins there. `Trie` has no links from a
state to that of a suffix: it is followed from one position of the text to find what begins there, and behind a filter
that lets few positions through. Either way matches come out in the order of their begins and lengths.

This is our own code because the packages for it keep their automata to themselves, as nodes and links and without rows
of transitions that a device can follow.

Source: A. Aho, M. Corasick, "Efficient string matching: an aid to bibliographic search", 1975; C.-H. Lin et al.,
"Accelerating pattern matching using a novel parallel algorithm on GPUs", 2013 (automata without links).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from vyre._base.refused import must_have

__all__ = ["FILTER_SHARE", "FILTER_WORDS", "FOUND", "HASH", "NONE", "Automaton", "Trie"]

# In an entry of a table: something is found here.
FOUND = 1 << 31
# The end of a chain of patterns.
NONE = 2**32 - 1
_MOST_WORDS = 2**28
# The filter's bit for some bytes: they are the low ones of a word. The high bits of its product with HASH tell which
# word of the filter, and its own lowest bits which bit of that, because a shift takes them as they are.
FILTER_WORDS = 2**11
FILTER_SHARE = 2**32 // FILTER_WORDS  # products that look at one word
HASH = 0x9E3779B1


def _common(a: bytes, b: bytes) -> int:
    """The length of the longest common prefix."""
    length = min(len(a), len(b))
    differing = int.from_bytes(a[:length], "big") ^ int.from_bytes(b[:length], "big")
    return length - (differing.bit_length() + 7) // 8


class _States:
    """The states of a trie: the beginnings of patterns, or with `backward` their endings.

    Attributes:
        classes: the class of each byte, uint32; bytes that no pattern has share one.
        count: classes there are.
        depth, parent, symbol: of each state; the class of the byte that leads to it.
        terminal: the state that each pattern spells.
        order: of the states by depth, level k from begins[k] on.
    """

    def __init__(self, patterns: Sequence[bytes], backward: bool, more: int) -> None:
        used = np.zeros(256, bool)
        for each in patterns:
            used[np.frombuffer(each, np.uint8)] = True
        known = int(used.sum())
        self.classes = np.where(used, np.cumsum(used) - 1, known).astype(np.uint32)
        self.count = known + (known < 256)
        self._make([each[::-1] for each in patterns] if backward else patterns, self.count + more)
        self.order = np.argsort(self.depth, kind="stable")
        self.begins = np.searchsorted(self.depth[self.order], np.arange(self.depth.max() + 3))

    def _make(self, patterns: Sequence[bytes], words: int) -> None:
        """Number the states; each takes `words` words in a table.

        In sorted order a pattern shares the states of its longest common prefix with the one before, and its other
        states are new: all arrays are made at once, and none before it is known that they are not too large.
        """
        order = sorted(range(len(patterns)), key=patterns.__getitem__)
        shared, roots, tails = [], [], []  # of each pattern in order: bytes, the last state of these, and the rest
        terminal = np.zeros(len(patterns), np.int64)
        # The path of the pattern before, in parts of consecutive states: the bytes above a part, and its first state.
        path: list[tuple[int, int]] = []
        before, count = b"", 1
        for number in order:
            pattern = patterns[number]
            length = _common(before, pattern)
            while path and path[-1][0] >= length:
                path.pop()
            shared.append(length)
            roots.append(path[-1][1] + length - path[-1][0] - 1 if path else 0)
            tails.append(pattern[length:])
            if len(pattern) > length:
                path.append((length, count))
                count += len(pattern) - length
            terminal[number] = path[-1][1] + len(pattern) - path[-1][0] - 1
            before = pattern
        if count * words > _MOST_WORDS:
            raise must_have("the automaton of the patterns", f"at most {_MOST_WORDS} words", count * words)
        lengths = np.fromiter(map(len, tails), np.int64, len(tails))
        firsts = 1 + np.cumsum(lengths) - lengths
        new = lengths > 0
        self.terminal = terminal
        self.symbol = np.concatenate([[0], self.classes[np.frombuffer(b"".join(tails), np.uint8)]]).astype(np.uint8)
        self.parent = np.arange(-1, count - 1, dtype=np.int32)
        self.parent[0] = 0
        self.parent[firsts[new]] = np.array(roots, np.int32)[new]
        self.depth = np.arange(count, dtype=np.int32)
        self.depth[1:] -= np.repeat((firsts - np.array(shared, np.int64) - 1).astype(np.int32), lengths)

    def chains(self, descending: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The first and the last pattern of each state, and the next of each pattern, or NONE."""
        terminal, numbers = self.terminal, np.arange(len(self.terminal), dtype=np.uint32)
        order = np.argsort(terminal, kind="stable")
        before, after = order[:-1], order[1:]
        equal = terminal[after] == terminal[before]
        following = np.full(len(numbers), NONE, np.uint32)
        least, most = np.full(len(self.parent), NONE, np.uint32), np.full(len(self.parent), NONE, np.uint32)
        most[terminal] = numbers  # of equal indices the last one counts
        least[terminal[::-1]] = numbers[::-1]
        if descending:
            following[after[equal]] = before[equal]
            return most, least, following
        following[before[equal]] = after[equal]
        return least, most, following


def _entries(targets: np.ndarray, stride: int, head: np.ndarray) -> np.ndarray:
    """Transitions as the first words of rows, with FOUND."""
    found = np.where(head[targets] != NONE, np.uint32(FOUND), np.uint32(0))
    return targets * np.uint32(stride) | found


class Automaton:
    """The automaton of Aho and Corasick, for a text that is read backward.

    Attributes:
        classes: the class of each byte, uint32.
        most: how many patterns can begin at one place.
        stride: words of a row of the table: the transition of each class, one of a place behind the text, how many
            patterns begin here, and the first of them.
        table: the rows, uint32. A transition is the first word of the next state's row, with FOUND set where a
            pattern begins. Row 0 is the beginning.
        chains: for each pattern the next that begins at the same place, or NONE, and its length, uint32. Along a chain
            lengths fall, and the numbers of equal patterns.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        states = _States(patterns, True, 3)
        self.classes, count = states.classes, states.count
        self.stride = count + 3
        head, last, following = states.chains(True)
        parent, symbol, begins = states.parent, states.symbol, states.begins
        totals = np.bincount(states.terminal, minlength=len(parent)).astype(np.uint64)
        table = np.zeros((len(parent), self.stride), np.uint32)
        link = np.zeros(len(parent), np.int64)  # the state of the longest proper suffix
        for k in range(len(begins) - 2):
            level, children = states.order[begins[k] : begins[k + 1]], states.order[begins[k + 1] : begins[k + 2]]
            if k > 0:
                # The parent's link is shallower than the parent, so that its row is complete.
                link[level] = table[link[parent[level]], symbol[level]] if k > 1 else 0
                table[level, :count] = table[link[level], :count]
                totals[level] += totals[link[level]]
                after = head[link[level]]
                ends = last[level] != NONE
                following[last[level[ends]]] = after[ends]
                head[level[~ends]] = after[~ends]
            table[parent[children], symbol[children]] = children
        table[:, :count] = _entries(table[:, :count], self.stride, head)
        self.most = int(totals.max())
        table[:, count + 1] = np.minimum(totals, NONE)
        table[:, count + 2] = head
        self.table = table.reshape(-1)
        lengths = np.array([len(each) for each in patterns], np.uint32)
        self.chains = np.stack([following, lengths], axis=1).reshape(-1)

    @cached_property
    def links(self) -> np.ndarray:
        """Four words for each pattern, with which any pattern of its chain is found in few steps.

        They are the next pattern, the length, how many patterns the chain has from here on, and a pattern further on.
        Each skip is as long as the two before it together, if these are equal, and else one step: the way to any
        pattern takes fewer than 3 times the logarithm of the chain's length.

        Source: E. Myers, "An applicative random-access stack", 1983.
        """
        lengths = self.chains[1::2].tolist()
        # The last element stands for the end of every chain; -1 is its index too.
        following = [-1 if each == NONE else each for each in self.chains[::2].tolist()] + [-1]
        left, skip = [0] * len(following), [-1] * len(following)
        # What follows a pattern is shorter, or equal with a lower number.
        for k in sorted(range(len(lengths)), key=lambda k: (lengths[k], k)):
            after = following[k]
            left[k] = left[after] + 1
            far = skip[after]
            both = left[after] - left[far] == left[far] - left[skip[far]]
            skip[k] = skip[far] if both else after
        columns = [following[:-1], lengths, left[:-1], skip[:-1]]
        return np.array(columns, np.int64).astype(np.uint32).T.reshape(-1)


class Trie:
    """The trie of the patterns, and a filter for the places where one may begin.

    Attributes:
        classes: the class of each byte, uint32.
        most: how many patterns can begin at one place.
        stride: words of a row of the table: the transition of each class, how many patterns end here, the first one.
        table: the rows, uint32. A transition is the first word of the next state's row, with FOUND set where a
            pattern ends, or 0 where no pattern goes on. Row 0 is the beginning.
        chains: for each pattern the next equal one, or NONE, in the order of their numbers; and its length, uint32.
        mask: the bytes of a word that the filter looks at: as many as every pattern has, at most four.
        second: how far behind the begin the filter looks a second time, 0 to 4.
        filter: a bit for each hash of these bytes, uint32: whether they are the first ones of a pattern, or stand
            `second` bytes behind its begin.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        states = _States(patterns, False, 2)
        self.classes, count = states.classes, states.count
        self.stride = count + 2
        head, _, following = states.chains(False)
        table = np.zeros((len(states.parent), self.stride), np.uint32)
        inner = np.arange(1, len(states.parent))
        table[states.parent[1:], states.symbol[1:]] = _entries(inner.astype(np.uint32), self.stride, head)
        ending = np.bincount(states.terminal, minlength=len(states.parent))
        table[:, count] = ending
        for k in range(1, len(states.begins) - 1):
            level = states.order[states.begins[k] : states.begins[k + 1]]
            ending[level] += ending[states.parent[level]]
        self.most = int(ending.max())
        table[:, count + 1] = head
        self.table = table.reshape(-1)
        lengths = np.array([len(each) for each in patterns], np.uint32)
        self.chains = np.stack([following, lengths], axis=1).reshape(-1)
        shortest = min(map(len, patterns), default=4)
        looked = min(4, shortest)
        self.mask = 256**looked - 1
        self.second = min(4, shortest - looked)
        self.filter = np.zeros(FILTER_WORDS, np.uint32)
        for first in (0, self.second):
            words = np.array([int.from_bytes(each[first : first + looked], "little") for each in patterns], np.uint32)
            np.bitwise_or.at(self.filter, words * np.uint32(HASH) // FILTER_SHARE, np.uint32(1) << words % 32)
