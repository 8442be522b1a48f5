"""Laws that operations of the standard library claim hold for their models, of which every backend has the values."""

from __future__ import annotations

import itertools

import pytest

from vyre import OpSpec, _core
from vyre.conformance.families.operations import _two_sides, modelled, values
from vyre.conformance.models import MODELS

CLAIMING = [spec for spec in _core._op_all() if spec.laws and spec.id in MODELS]
assert CLAIMING


@pytest.mark.parametrize("spec", CLAIMING, ids=lambda spec: spec.id)
def test_a_claimed_law_holds_for_the_model(spec: OpSpec):
    """A case compares each side of a law with the model's, so both are wrong together where the model's differ."""
    assert spec.signature is not None
    for law in spec.laws:
        count, sides = _two_sides(lambda *row: modelled(MODELS[spec.id], spec.signature.output, row), law)
        drawn = values(spec.signature.inputs[0], f"{spec.id} {law.name}")[:20]
        for row in itertools.product(drawn, repeat=count):
            left, right = sides(*row)
            assert list(left) == list(right), (law.name, row)
