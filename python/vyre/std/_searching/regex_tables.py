"""The tables by which a text is searched for a regular expression: two automata that walk it in opposite directions.

The first writes a symbol for every byte, the second walks over these symbols and knows where matches begin and end.

For the longest matches the first walks backward: its state is the set of states of the pattern's automaton from which
a match ends further on. The symbols say so to the second, which walks forward: it begins a match where one is
possible, and ends it where it cannot get longer. For the earliest ends the first walks forward with all matches that
have begun behind the last end, and marks the first end; the second walks backward from each end, with all places where
a match to this end may begin.

Where a pattern has assertions, a state of either automaton also has the kind of the byte that was read last, which is
what stands on that side of the next boundary. The walk forward for the earliest ends marks one that depends on the byte
behind it a byte later.

Such a pair is a bimachine.

Source: M. P. Schützenberger, "A remark on finite transducers", 1961; J. E. Hopcroft, R. Motwani, J. D. Ullman,
"Introduction to automata theory, languages, and computation", 2001 (sets of states, minimal automata).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from vyre._base.refused import must_have
from vyre.std._searching.regex_boundaries import LINE_FEED
from vyre.std._searching.regex_positions import Expression, bits
from vyre.std._searching.regex_syntax import PATTERN

__all__ = ["BEGIN", "END", "FIRST_STATE", "STATE", "SYMBOL_SHIFT", "Tables", "earliest_tables", "longest_tables"]

# In an entry of the first table: the next state, and above it the symbol that is written.
FIRST_STATE, SYMBOL_SHIFT = (1 << 16) - 1, 16
# In an entry of the second table: a match begins here, or may; one ends; and the next state.
BEGIN, END, STATE = 1 << 31, 1 << 30, (1 << 30) - 1
_State = TypeVar("_State", tuple[int, int], tuple[int, int, bool])
_MOST_STATES = 2048
_MOST_SYMBOLS = 1 << 16  # of 16 bits each
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


class _Letter(NamedTuple):
    """A class of bytes.

    Attributes:
        takers: the positions that take its bytes.
        before, behind: the kinds of its bytes before and behind a boundary.
    """

    takers: int
    before: int
    behind: int


def _letters_of(expression: Expression) -> tuple[np.ndarray, list[_Letter], list[int]]:
    """The class of each byte, the letters, and for each class the letter it is when it ends the text.

    The letters are the classes, and behind them the line feed that ends the text, where assertions tell it from others.
    """
    takers = [0] * 256
    for position, symbol in enumerate(expression.symbols):
        for byte in bits(symbol):
            takers[byte] |= 1 << position
    kinds = expression.boundaries
    at_end = [*kinds.behind]
    at_end[LINE_FEED] = kinds.last
    of_byte = list(zip(takers, kinds.before, kinds.behind, at_end, strict=True))
    numbers = {each: k for k, each in enumerate(dict.fromkeys(of_byte))}
    classes = np.array([numbers[each] for each in of_byte], np.uint32)
    letters, last = [_Letter(*each[:3]) for each in numbers], list(range(len(numbers)))
    if kinds.last != kinds.behind[LINE_FEED]:
        last[classes[LINE_FEED]] = len(letters)
        letters.append(letters[classes[LINE_FEED]]._replace(behind=kinds.last))
    return classes, letters, last


def _explored(begins: list[_State], step: Callable[[_State], list[_State]]) -> tuple[np.ndarray, list[_State]]:
    """The states that are reached from some, as a table of numbers, and what each is."""
    states, rows = list(begins), []
    numbers = {each: k for k, each in enumerate(begins)}
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
    """The automaton with the fewest states that gives the same outputs, as its targets and the state of each state.

    State 0 stays state 0.
    """
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
    return rank[finer][targets[first[order]]], rank[finer]


def longest_tables(expression: Expression) -> Tables:
    """For matches that begin first and are the longest of these."""
    classes, letters, last = _letters_of(expression)
    at, automata = expression.boundaries.at, expression.kinds
    follow = [[*each.follow, each.first] for each in automata]

    # A state is a set of positions, with the kind of the byte before. A match begins with the position before any.
    def step(state: tuple[int, int]) -> list[tuple[int, int]]:
        after = {kind: _union(follow[kind], state[0]) for kind in {*at[state[1]]}}
        reached = [(after[at[state[1]][each.behind]] & each.takers, each.before) for each in letters]
        return [each if each[0] else (0, 0) for each in reached]

    begins = [(1 << len(expression.symbols), before) for before in range(len(at))]
    targets, states = _explored(begins, step)
    # Whether a match may end in a state, by the kind of what is behind; and what is before.
    ends = np.array([[bool(members & automata[kind].last) for kind in at[before]] for members, before in states])
    before = np.array([each for _, each in states])
    outputs = ends[targets].reshape(len(states), -1)
    targets, numbers = _minimal(targets, np.column_stack([outputs, before.astype(np.uint8)]))
    count = len(targets)
    first = np.unique(numbers, return_index=True)[1]
    before, accepted = before[first], outputs[first].reshape(count, len(letters), -1)
    letter_at_end, letter = np.array(last), np.arange(len(last))

    # The sets of states from which a match ends behind the byte that is read next, or later, as bits of an int; with
    # the kind of that byte behind a boundary.
    def step_back(state: tuple[int, int]) -> list[tuple[int, int]]:
        ahead, behind = state
        read = letter_at_end if behind == 0 else letter
        alive = accepted[:, read, behind] | _bools(ahead, count)[targets[:, read]]
        packed = np.packbits(alive.T, axis=1, bitorder="little")
        sets = [int.from_bytes(each.tobytes(), "little") for each in packed]
        return [(each, letters[k].behind) for each, k in zip(sets, read, strict=True)]

    back, sets = _explored([(0, 0)], step_back)
    # The second's states are those outside of a match, by the kind of the byte before, and behind them the states of
    # the pattern.
    outsides = len(at)
    if len(sets) * len(last) * (count + outsides) > _MOST_CELLS:
        raise _too_large(_MOST_CELLS // (len(sets) * len(last)))
    alive = np.array([_bools(each, count) for each, _ in sets])
    # By set, class and state:
    kind = np.array([each for _, each in sets])
    ends_text = kind[:, None] == np.array([letters[each].behind for each in last])
    read = np.where(ends_text, letter_at_end, letter)
    going = outsides + targets.T[read]
    begin = numbers[:outsides]
    left = np.array([each.before for each in letters])[read]
    outside = np.where(alive[:, None, begin], BEGIN | going[:, :, begin], left[:, :, None])
    inside = np.where(alive[:, None, :], going, END | outside[:, :, before])
    columns = np.concatenate([outside, inside], axis=2).reshape(-1, outsides + count)
    columns, symbols = np.unique(columns, axis=0, return_inverse=True)
    # The symbol of a byte goes by its class and the set that holds before it.
    of_pair = symbols.reshape(len(sets), len(last))
    written = of_pair[back, letter]
    return _made(True, classes, back, written, int(of_pair[0, 0]), columns)


class _Reading(NamedTuple):
    """What the first automaton for earliest ends knows of a byte, if the text ends behind it or if it goes on.

    Attributes:
        letter: the number of the letter.
        begins: the positions that a match may begin with here.
        ended: whether a match ends before the byte.
        ends: whether a match ends behind the byte, whatever comes; if the text ends here, whether one ends with it.
    """

    letter: int
    begins: int
    ended: bool
    ends: bool


def earliest_tables(expression: Expression) -> Tables:
    """For matches that end first, and begin first among these."""
    classes, letters, last = _letters_of(expression)
    at, automata = expression.boundaries.at, expression.kinds
    keys: dict[tuple[_Reading, _Reading], int] = {}
    rows: list[list[int]] = []

    # A state is a set of positions, with the kind of the byte before. A match that ends whatever comes is over at
    # once, and another where the next byte says so; then all begins anew.
    def step(state: tuple[int, int]) -> list[tuple[int, int]]:
        members, before = state
        ended = {kind: bool(members & automata[kind].last) for kind in {*at[before]}}
        after = {
            kind: automata[kind].first | (0 if over else _union(automata[kind].follow, members))
            for kind, over in ended.items()
        }

        def reading(number: int, at_end: bool) -> tuple[_Reading, int]:
            takers, letter_before, behind = letters[number]
            kind = at[before][behind]
            reached = after[kind] & takers
            behinds = at[letter_before][:1] if at_end else at[letter_before]
            ends = all(reached & automata[each].last for each in behinds)
            return _Reading(number, automata[kind].first & takers, ended[kind], ends), reached

        row, targets = [], []
        for number, final in enumerate(last):
            going, reached = reading(number, False)
            row.append(keys.setdefault((going, reading(final, True)[0]), len(keys)))
            targets.append((0 if going.ends else reached, letters[number].before))
        rows.append(row)
        return targets

    targets, _ = _explored([(0, 0)], step)
    written = np.array(rows)
    targets, numbers = _minimal(targets, written)
    written = written[np.unique(numbers, return_index=True)[1]]

    # A state is the set of positions that lead to an end, the kind of the byte behind, and whether a match ends there.
    entries: list[list[int]] = []

    def step_back(state: tuple[int, int, bool]) -> list[tuple[int, int, bool]]:
        members, behind, over = state
        ahead = {kind: _union(automata[kind].precede, members) for kind in {row[behind] for row in at}}
        made, targets = [], []
        for readings in keys:
            read = readings[behind == 0]
            takers, before, own = letters[read.letter]
            kind, ends = at[before][behind], over or read.ends
            reached = (automata[kind].last if ends else ahead[kind]) & takers
            made.append((BEGIN if reached & read.begins else 0) | (END if ends else 0))
            targets.append((0 if read.ended else reached, own, read.ended))
        entries.append([*made, 0])
        return [*targets, (0, 0, False)]

    back, _ = _explored([(0, 0, False)], step_back)
    if back.size > _MOST_CELLS:
        raise _too_large(_MOST_CELLS // (len(keys) + 1))
    return _made(False, classes, targets, written, len(keys), (np.array(entries) | back).T)


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
    if len(columns) > _MOST_SYMBOLS:
        raise must_have(PATTERN, f"automata with at most {_MOST_SYMBOLS} symbols between them", "more")
    first, first_shift = _by_symbol((written << SYMBOL_SHIFT | targets)[:, classes])
    second, second_shift = _by_symbol(columns.T)
    return Tables(backward, first, second, behind, (first_shift, second_shift), (len(targets), columns.shape[1]))
