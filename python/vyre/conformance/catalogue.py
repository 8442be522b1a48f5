"""The list of families, and every case of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre import _core
from vyre._base.refused import must_be_one_of, must_have
from vyre.conformance.case import LEVELS, Case
from vyre.conformance.families import (
    barriers,
    casts,
    composition,
    control_flow,
    litmus,
    memory,
    narrow_elements,
    operations,
    operators,
    ordered,
    private_memory,
    programs,
    workgroup_atomics,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

FAMILIES = {
    "L1": (
        *(operators, casts, memory, narrow_elements, control_flow),
        *(barriers, litmus, ordered, private_memory, workgroup_atomics),
    ),
    "L2": (operations,),
    "L3": (composition,),
    "L4": (programs,),
}


@cache
def _standard(level: str) -> tuple[Case, ...]:
    made = tuple(case for family in FAMILIES[level] for case in family.cases())
    if level == "L3":
        made += tuple(composition.both_ways(_standard("L1") + _standard("L2")))
    return made


def check_levels(levels: Iterable[str] | None) -> tuple[str, ...]:
    """The names of the levels asked for, in order; None stands for all that this version claims.

    Raises: ArgumentError for another name.

    >>> check_levels(None)
    ('L1', 'L2', 'L3', 'L4')
    """
    claimed = tuple(name for name, level in LEVELS.items() if level.claimed)
    if levels is None:
        return claimed
    wanted = [levels] if isinstance(levels, str) else list(levels)
    for name in wanted:
        if name not in claimed:
            raise must_be_one_of("an element of argument `levels`", claimed, name)
    if not wanted:
        raise must_have("argument `levels`", "a level or more", "none")
    return tuple(name for name in claimed if name in wanted)


def cases(levels: Iterable[str] | None = None) -> tuple[Case, ...]:
    """Every case of the levels, in the order of the families; the same on every machine.

    Args:
        levels: names such as "L1"; None for all.

    Raises: ArgumentError for a name that is no level.

    >>> cases(["L1"])[0].id
    'L1/operators/add'
    """
    return tuple(made for level in check_levels(levels) for made in _standard(level))


def registered_cases(levels: Iterable[str] | None = None) -> tuple[Case, ...]:
    """The cases of the operations that were registered beside the standard ones, by their own examples and laws."""
    wanted = check_levels(levels)
    specs = [spec for spec in _core._op_all() if not operations.is_standard(spec)]
    own = tuple(made for spec in specs for made in operations.of_operation(spec))
    both = tuple(composition.both_ways(own)) if "L3" in wanted else ()
    return (own if "L2" in wanted else ()) + both


def lock() -> str:
    """The text of ``cases.lock``: a line for each case with the first digits of its hashes.

    Cases that only repeat another one with the optimiser on and off have the same hashes and are left out.

    >>> lock().splitlines()[0]
    '# case program inputs expected-output'
    """
    lines = [
        " ".join([made.id, *(hash[:16] or "-" for hash in (made.program_hash, made.inputs_hash, made.expected_hash))])
        for made in cases()
        if not made.id.startswith("L3/optimiser/")
    ]
    return "\n".join(["# case program inputs expected-output", *lines]) + "\n"
