"""The text form of procedures, beyond what tests/cpp/ir/procedure_text_test.cpp says about it."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

import vyre
from vyre.errors import ParseError
from vyre.fuzz import procedures


def assert_comes_back(procedure: vyre.Procedure) -> None:
    text = procedure.to_text()
    read = vyre.Procedure.parse(text)
    assert (read, hash(read)) == (procedure, hash(procedure))
    assert (read.to_bytes(), read.to_text()) == (procedure.to_bytes(), text)


def test_the_example_of_the_page_is_a_valid_procedure():
    page = (files("vyre") / "docs" / "text-form.md").read_text(encoding="utf-8")
    (text,) = [text for text in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "\nprocedure " in text]
    read = vyre.Procedure.parse(text)
    assert (read.to_text(), vyre.validate(read)) == (text, [])


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_procedures_come_back_exactly(first):
    for seed in range(first, first + 50):
        assert_comes_back(procedures.generate(seed).procedure)


def test_a_damaged_text_is_an_error_or_another_procedure(rng):
    text = procedures.generate(3).procedure.to_text().encode()
    read = 0
    for at in range(0, len(text), 7):
        wrong = bytearray(text)
        wrong[at] = int(rng.integers(1, 128))
        message = refusal(wrong.decode())
        if message is None:
            assert_comes_back(vyre.Procedure.parse(wrong.decode()))
            read += 1
        else:
            assert re.match(r"line \d+, column \d+: .*\. Fix: .*\.$", message)
    assert read > 10


def refusal(text: str) -> str | None:
    try:
        vyre.Procedure.parse(text)
    except ParseError as error:
        return str(error)
    return None
