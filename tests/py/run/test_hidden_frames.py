"""vyre.hide_frames: what helpers make is said to stand where they were called."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import vyre
from vyre import Node, Program


def here() -> int:
    """The caller's line."""
    return sys._getframe(1).f_lineno


def line_of(node: Node) -> int | None:
    """The place that is reported for a statement that names an unknown variable."""
    return vyre.validate(Program(entry=[node]))[0].place.line


def test_a_helpers_line_is_shown_until_it_is_hidden(write_module):
    kit = write_module(
        "kit_decorated",
        """
        import vyre
        def plain(name):
            return vyre.Node.let("y", vyre.Expr.var(name))
        @vyre.hide_frames
        def hidden(name):
            return plain_inside(name)
        @vyre.hide_frames
        def plain_inside(name):
            return [vyre.Node.let("y", vyre.Expr.var(name)) for _ in range(1)][0]
        """,
    )
    assert line_of(kit.plain("a")) == 4
    assert (line_of(kit.hidden("a")), here()) == (here(), here())
    assert (line_of(kit.plain("a")), kit.hidden.__name__) == (4, "hidden")


def test_a_place_found_before_is_found_anew_when_its_frame_is_hidden(write_module):
    kit = write_module("kit_later", "import vyre\ndef make():\n    return vyre.Node.let('y', vyre.Expr.var('x'))\n")
    assert line_of(kit.make()) == 3
    assert vyre.hide_frames(kit.make) is kit.make
    assert line_of(kit.make()) == here()


@pytest.mark.parametrize("how", ["module", "name", "list", "name of the package"])
def test_a_module_is_hidden_by_itself_and_by_its_name(write_module, how):
    package = f"kit_{how.replace(' ', '_')}"
    write_module(f"{package}.__init__", "")
    kit = write_module(
        f"{package}.parts", "import vyre\ndef make():\n    return vyre.Node.let('y', vyre.Expr.var('x'))\n"
    )
    other = write_module(f"{package}x", "import vyre\ndef make():\n    return vyre.Node.let('y', vyre.Expr.var('x'))\n")
    what = {"module": kit, "name": kit.__name__, "list": [kit, "not.imported.yet"], "name of the package": package}[how]
    assert vyre.hide_frames(what) is what
    assert line_of(kit.make()) == here()
    assert line_of(other.make()) == 3


def test_what_wraps_a_function_is_hidden_with_it(write_module):
    kit = write_module(
        "kit_wrapped",
        """
        import contextlib, functools
        import vyre
        def logged(function):
            @functools.wraps(function)
            def wrapper(*args):
                return function(*args)
            return wrapper
        @vyre.hide_frames
        @logged
        def wrapped():
            return vyre.Node.let("y", vyre.Expr.var("x"))
        @vyre.hide_frames
        class Kit:
            def method(self):
                return vyre.Node.let("y", vyre.Expr.var("x"))
            @staticmethod
            def static():
                return vyre.Node.let("y", vyre.Expr.var("x"))
            @classmethod
            def of_class(cls):
                return vyre.Node.let("y", vyre.Expr.var("x"))
            @property
            def value(self):
                return vyre.Node.let("y", vyre.Expr.var("x"))
        @vyre.hide_frames
        @contextlib.contextmanager
        def block(nodes):
            nodes.append(vyre.Node.let("y", vyre.Expr.var("x")))
            yield
        partial = vyre.hide_frames(functools.partial(lambda: vyre.Node.let("y", vyre.Expr.var("x"))))
        """,
    )
    assert line_of(kit.wrapped()) == here()
    assert line_of(kit.Kit().method()) == here()
    assert line_of(kit.Kit.static()) == here()
    assert line_of(kit.Kit.of_class()) == here()
    assert line_of(kit.Kit().value) == here()
    assert line_of(kit.partial()) == here()
    nodes: list[Node] = []
    with kit.block(nodes):
        entered = here() - 1
    assert line_of(nodes[0]) == entered


def test_a_tracebackhide_of_pytest_hides_a_function_or_a_module(write_module):
    kit = write_module(
        "kit_marked",
        """
        import vyre
        def marked(mark):
            __tracebackhide__ = mark
            return vyre.Node.let("y", vyre.Expr.var("x"))
        def unmarked():
            __tracebackhide__ = False
            return vyre.Node.let("y", vyre.Expr.var("x"))
        """,
    )
    assert line_of(kit.marked(True)) == here()
    assert line_of(kit.unmarked()) == 8
    whole = write_module(
        "kit_marked_whole",
        "import vyre\n__tracebackhide__ = True\ndef make():\n    return vyre.Node.let('y', vyre.Expr.var('x'))\n",
    )
    assert line_of(whole.make()) == here()


def test_when_every_line_is_hidden_the_innermost_is_shown():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import vyre\nvyre.hide_frames('__main__')\nn = vyre.Node.let('y', vyre.Expr.var('x'))\n"
            "print(vyre.validate(vyre.Program(entry=[n]))[0].place.line)",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "3\n"


def test_frames_are_hidden_in_every_thread_while_places_are_taken(write_module):
    kits = [
        write_module(f"kit_thread_{k}", "import vyre\ndef make():\n    return vyre.Node.let('y', vyre.Expr.var('x'))\n")
        for k in range(4)
    ]
    stop, wrong = threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            for kit in kits:
                if line_of(kit.make()) not in (3, inside):
                    wrong.append(kit)

    inside = work.__code__.co_firstlineno + 3
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for kit in kits:
        vyre.hide_frames(kit)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert {line_of(kit.make()) for kit in kits} == {here()}


@pytest.mark.parametrize(
    ("what", "given"),
    [
        (3, "an object of type int"),
        (None, "an object of type NoneType"),
        (len, "an object of type builtin_function_or_method"),
        ([["kit"]], "an object of type list"),
        ("", "''"),
        ("kit/matrices.py", "'kit/matrices.py'"),
    ],
)
def test_what_cannot_be_hidden_is_said(what, given):
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.hide_frames(what)
    assert str(error.value).startswith(
        "argument `what` of vyre.hide_frames must be a function, a class, a module, the name of a module, or a list of "
        f"them, got {given}. Fix: "
    )
