"""The automaton of Aho and Corasick, built on the host for patterns that are read from their ends to their beginnings.

Text is scanned from right to left, so that the state at a position knows every pattern that begins there: matches come
out in the order of their begins, and by the links of the automaton from the longest to the shortest. It is our own code
because the packages for it keep their automaton to themselves, as nodes and links and without rows of transitions that
a device can follow.

Source: A. Aho, M. Corasick, "Efficient string matching: an aid to bibliographic search", 1975.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FOUND", "NONE", "Automaton"]

# In an entry of the table: something begins here.
FOUND = 1 << 31
# The end of a chain of patterns.
NONE = 2**32 - 1
_MOST_WORDS = 2**28


class Automaton:
    """The tables of an automaton.

    Attributes:
        classes: the class of each byte, uint32; bytes that no pattern has share one.
        stride: words of a row of the table: the transition of each class, one of a place behind the text, how many
            patterns begin here, and the first of them.
        table: the rows, uint32. A transition is the first word of the next state's row, with FOUND set where a
            pattern begins. Row 0 is the beginning.
        following: for each pattern the next that begins at the same place, or NONE. Along a chain lengths fall, and
            the numbers of equal patterns.
        lengths: of the patterns, uint32.
        longest: the largest of them.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self.lengths = np.array([len(each) for each in patterns], np.uint32)
        self.longest = int(self.lengths.max(initial=0))
        used = np.zeros(256, bool)
        for each in patterns:
            used[np.frombuffer(each, np.uint8)] = True
        known = int(used.sum())
        self.classes = np.where(used, np.cumsum(used) - 1, known).astype(np.uint32)
        count = known + (known < 256)  # of classes of bytes
        self.stride = count + 3
        depth, parent, symbol, terminal = self._trie(patterns)
        if len(parent) * self.stride > _MOST_WORDS:
            raise ArgumentError(
                f"the patterns need {len(parent)} states of {self.stride} words, and an automaton has at most "
                f"{_MOST_WORDS} words. Fix: search for fewer patterns at a time."
            )
        self._fill(depth, parent, symbol, terminal, count)

    def _trie(self, patterns: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The depth of each state, its parent, the class of the byte that leads to it; the state of each pattern."""
        children: dict[int, int] = {}
        parent, symbol, depth, terminal = [0], [0], [0], []
        for each in patterns:
            state = 0
            for k, c in enumerate(self.classes[np.frombuffer(each, np.uint8)[::-1]].tolist()):
                inner = children.setdefault(state << 8 | c, len(parent))
                if inner == len(parent):
                    parent.append(state)
                    symbol.append(c)
                    depth.append(k + 1)
                state = inner
            terminal.append(state)
        return np.array(depth), np.array(parent), np.array(symbol), np.array(terminal, np.int64)

    def _fill(
        self, depth: np.ndarray, parent: np.ndarray, symbol: np.ndarray, terminal: np.ndarray, count: int
    ) -> None:
        states, numbers = len(parent), np.arange(len(terminal), dtype=np.uint32)
        # Equal patterns form a chain from the last to the first.
        order = np.argsort(terminal, kind="stable")
        self.following = np.full(len(numbers), NONE, np.uint32)
        equal = terminal[order[1:]] == terminal[order[:-1]]
        self.following[order[1:][equal]] = order[:-1][equal]
        head, last = np.full(states, NONE, np.uint32), np.full(states, NONE, np.uint32)
        head[terminal] = numbers  # of equal indices the last one counts
        last[terminal[::-1]] = numbers[::-1]
        totals = np.bincount(terminal, minlength=states).astype(np.uint64)
        table = np.zeros((states, self.stride), np.uint32)
        link = np.zeros(states, np.int64)  # the state of the longest proper suffix
        order = np.argsort(depth, kind="stable")
        begins = np.searchsorted(depth[order], np.arange(self.longest + 3))
        for k in range(self.longest + 1):
            level, children = order[begins[k] : begins[k + 1]], order[begins[k + 1] : begins[k + 2]]
            if k > 0:
                # The parent's link is shallower than the parent, so that its row is complete.
                link[level] = table[link[parent[level]], symbol[level]] if k > 1 else 0
                table[level, :count] = table[link[level], :count]
                totals[level] += totals[link[level]]
                after = head[link[level]]
                ends = last[level] != NONE
                self.following[last[level[ends]]] = after[ends]
                head[level[~ends]] = after[~ends]
            table[parent[children], symbol[children]] = children
        targets = table[:, :count]
        found = np.where(head[targets] != NONE, np.uint32(FOUND), np.uint32(0))
        table[:, :count] = targets * np.uint32(self.stride) | found
        table[:, count + 1] = np.minimum(totals, NONE)
        table[:, count + 2] = head
        self.table = table.reshape(-1)
