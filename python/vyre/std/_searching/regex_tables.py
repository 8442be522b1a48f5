"""The tables by which a text is searched for a regular expression: two automata that walk it in opposite directions.

The first writes a symbol for every byte, the second walks over these symbols and knows where matches begin and end.

For the longest matches the first walks backward: its state is the set of states of the pattern's automaton from which
a match ends further on. The symbols say so to the second, which walks forward: it begins a match where one is
possible, and ends it where it cannot get longer. For the earliest ends the first walks forward with all matches that
have begun behind the last end, and marks the first end; the second walks backward from each end, with all places where
a match to this end may begin.

Such a pair is a bimachine.

Source: M. P. Schützenberger, "A remark on finite transducers", 1961; J. E. Hopcroft, R. Motwani, J. D. Ullman,
"Introduction to automata theory, languages, and computation", 2001 (sets of states, minimal automata).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vyre._base.refused import must_have
from vyre.std._searching.regex_positions import Positions, bits
from vyre.std._searching.regex_syntax import PATTERN

__all__ = ["BEGIN", "END", "FIRST_STATE", "STATE", "SYMBOL_SHIFT", "Tables", "earliest_tables", "longest_tables"]

# In an entry of the first table: the next state, and above it the symbol that is written.
FIRST_STATE, SYMBOL_SHIFT = (1 << 16) - 1, 16
# In an entry of the second table: a match begins here, or may; one ends; and the next state.
BEGIN, END, STATE = 1 << 31, 1 << 30, (1 << 30) - 1
_MOST_STATES = 2048
_MOST_CELLS = 1 << 22


@dataclass
class Tables:
    """Two automata; both begin in state 0. A place in a table is the byte or symbol, shifted, plus the state.

    Attributes:
        backward: whether the first walks from right to left, and the second from left to right.
        first: for each byte and state of the first the next state and the symbol that is written.
        second: for each symbol and state of the second the next state, with BEGIN and END.
        behind: the symbol of a place behind the text, which leads the first to state 0.
        shifts: by how much bytes and symbols are shifted, for the two tables.
        states: how many states the two automata have.
    """

    backward: bool
    first: np.ndarray
    second: np.ndarray
    behind: int
    shifts: tuple[int, int]
    states: tuple[int, int]


def _too_large(states: int) -> Exception:
    return must_have(PATTERN, f"an automaton of at most {states} states", "more")


def _classes_of(positions: Positions) -> tuple[np.ndarray, list[int]]:
    """The class of each byte, and for each class the positions that take its bytes."""
    takers = [0] * 256
    for position, symbol in enumerate(positions.symbols):
        for byte in bits(symbol):
            takers[byte] |= 1 << position
    kinds = list(dict.fromkeys(takers))
    numbers = {each: k for k, each in enumerate(kinds)}
    return np.array([numbers[each] for each in takers], np.uint32), kinds


def _explored(begin: int, step: Callable[[int], list[int]]) -> tuple[np.ndarray, list[int]]:
    """The states that are reached from one, as a table of numbers, and what each is."""
    states, rows = [begin], []
    numbers = {begin: 0}
    for state in states:
        row = []
        for target in step(state):
            number = numbers.setdefault(target, len(states))
            if number == len(states):
                if number == _MOST_STATES:
                    raise _too_large(_MOST_STATES)
                states.append(target)
            row.append(number)
        rows.append(row)
    return np.array(rows, np.int64), states


def _union(masks: list[int], members: int) -> int:
    found = 0
    for each in bits(members):
        found |= masks[each]
    return found


def _bools(mask: int, count: int) -> np.ndarray:
    """The bits of an int."""
    words = np.frombuffer(mask.to_bytes(-(-count // 8), "little"), np.uint8)
    return np.unpackbits(words, count=count, bitorder="little").astype(bool)


def _minimal(targets: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The automaton with the fewest states that gives the same outputs; state 0 stays state 0."""
    _, labels = np.unique(outputs, axis=0, return_inverse=True)
    labels = labels.reshape(-1)
    while True:
        _, first, finer = np.unique(
            np.column_stack([labels, labels[targets]]), axis=0, return_index=True, return_inverse=True
        )
        finer = finer.reshape(-1)
        if finer.max() == labels.max():
            break
        labels = finer
    order = np.argsort(first)  # the blocks by their first states, so that state 0 is in the first
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = first[order]
    return rank[finer][targets[kept]], outputs[kept]


def longest_tables(positions: Positions) -> Tables:
    """For matches that begin first and are the longest of these."""
    classes, takers = _classes_of(positions)
    begin = 1 << len(positions.symbols)  # before any position
    follow = [*positions.follow, positions.first]

    def step(state: int) -> list[int]:
        after = _union(follow, state)
        return [after & each for each in takers]

    targets, states = _explored(begin, step)
    ends = np.array([bool(each & positions.last) for each in states])
    targets, accepted = _minimal(targets, ends[targets])
    count = len(targets)

    # The sets of states from which a match ends behind the byte that is read next, or later; as bits of an int.
    def step_back(ahead: int) -> list[int]:
        alive = accepted | _bools(ahead, count)[targets]
        return [int.from_bytes(each.tobytes(), "little") for each in np.packbits(alive.T, axis=1, bitorder="little")]

    back, sets = _explored(0, step_back)
    if len(sets) * len(takers) * (count + 1) > _MOST_CELLS:
        raise _too_large(_MOST_CELLS // (len(sets) * len(takers)))
    alive = np.array([_bools(each, count) for each in sets])
    # The second's states are 0, outside of a match, and 1 + a state of the pattern. By set, class and state:
    going = np.broadcast_to(1 + targets.T, (len(sets), len(takers), count))
    outside = np.where(alive[:, :1], BEGIN | going[:, :, 0], 0)
    inside = np.where(alive[:, None, :], going, END | outside[:, :, None])
    columns = np.concatenate([outside[:, :, None], inside], axis=2).reshape(-1, count + 1)
    columns, symbols = np.unique(columns, axis=0, return_inverse=True)
    # The symbol of a byte goes by its class and the set that holds before it.
    of_pair = symbols.reshape(len(sets), len(takers))
    written = of_pair[back, np.arange(len(takers))]
    return _made(True, classes, back, written, int(of_pair[0, 0]), columns)


def earliest_tables(positions: Positions) -> Tables:
    """For matches that end first, and begin first among these."""
    classes, takers = _classes_of(positions)

    def step(state: int) -> list[int]:
        after = _union(positions.follow, state) | positions.first
        # An end begins anew.
        return [0 if after & each & positions.last else after & each for each in takers]

    targets, states = _explored(0, step)
    ends = np.zeros(targets.shape, bool)
    for k, state in enumerate(states):
        after = _union(positions.follow, state) | positions.first
        ends[k] = [bool(after & each & positions.last) for each in takers]
    targets, ends = _minimal(targets, ends)
    # A symbol is the class, plus the number of classes and 1 where a match ends behind the byte.
    count = len(takers)
    written = np.where(ends, count + 1, 0) + np.arange(count)

    def step_back(state: int) -> list[int]:
        before = _union(positions.precede, state)
        return [*(before & each for each in takers), 0, *(positions.last & each for each in takers), 0]

    back, sets = _explored(0, step_back)
    may_begin = np.array([bool(each & positions.first) for each in sets])
    second = np.where(may_begin[back], BEGIN | back, back)
    second[:, count + 1 :] |= END
    return _made(False, classes, targets, written, count, second.T)


def _by_symbol(table: np.ndarray) -> tuple[np.ndarray, int]:
    """The entries of a table of states and symbols, by symbols first; and the shift of these."""
    states, symbols = table.shape
    shift = (states - 1).bit_length()
    made = np.zeros((symbols, 1 << shift), np.uint32)
    made[:, :states] = table.T
    return made.reshape(-1), shift


def _made(
    backward: bool, classes: np.ndarray, targets: np.ndarray, written: np.ndarray, behind: int, columns: np.ndarray
) -> Tables:
    first, first_shift = _by_symbol((written << SYMBOL_SHIFT | targets)[:, classes])
    second, second_shift = _by_symbol(columns.T)
    return Tables(backward, first, second, behind, (first_shift, second_shift), (len(targets), columns.shape[1]))
