"""The HTML forms of notebooks: what each tells, that names are text, that forms stay small, and their colours."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import html_forms
import vyre
from html_forms import EXAMPLES, drawn
from html_reader import parsed, told
from vyre import BufferDecl, Expr, Node, Program
from vyre._html import style
from vyre._html.code import python, text_form
from vyre._html.markup import element, escaped
from vyre._profile import picture

NAME = '<script>alert("1")</script>&\'\u202e'
SHOWN = '<script>alert("1")</script>&\'\\u202e'  # what a reader sees of it


def forms_of(shown):
    return told(drawn(shown))


# --- what the forms tell ---


def test_a_program_tells_its_sizes_its_buffers_and_its_statements():
    program = html_forms.program()
    (form,) = forms_of(program)
    assert (form.kind, form.title) == ("Program", "6 statements, 14 expressions")
    assert form.facts == {
        "workgroup": "64 × 1 × 1 = 64 invocations",
        "workgroup memory": f"{64 * 4} bytes",
        "binary form": f"{len(program.to_bytes())} bytes",
    }
    assert form.tables == [
        (
            "",
            ["buffer", "access", "element", "count", "binding", ""],
            [
                ["left", "ReadOnly", "u32", "the array's", "0", ""],
                ["right", "ReadOnly", "u32", "the array's", "1", ""],
                ["tile", "Workgroup", "u32", "64", "", ""],
                ["out", "ReadWrite", "u32", "the array's", "2", "output"],
            ],
        )
    ]
    # Blocks that fold begin and end lines of their own, so the text has no line breaks there.
    statements = program.to_text().partition("\n\n")[2]
    assert re.sub(r"\s", "", form.code[0]) == re.sub(r"\s", "", statements)
    assert [each.text.strip() for each in form.whole.all("summary")] == [
        line.strip() for line in statements.splitlines() if line.endswith("{")
    ]


def test_a_kernel_tells_its_parameters_its_source_and_its_program():
    (form,) = forms_of(html_forms.sums_of_64)
    function = html_forms.sums_of_64._function
    assert (form.kind, form.title) == ("Kernel", "sums_of_64(data, sums)")
    assert form.sentences == ["The sum of each 64 elements, by a tree of additions in workgroup memory."]
    assert form.facts["defined at"] == f"{html_forms.__file__}:{function.__code__.co_firstlineno}"
    assert form.facts["workgroup"] == "64 × 1 × 1 = 64 invocations"
    parameters, buffers = form.tables
    assert parameters[2] == [["data", "In", "u32", "1", ""], ["sums", "Out", "u32", "1", ""]]
    assert [row[0] for row in buffers[2]] == [decl.name for decl in html_forms.sums_of_64.program.buffers]
    source, program = form.code
    assert source.splitlines()[1] == "def sums_of_64(data: In[u32], sums: Out[u32]):"
    assert source.splitlines()[-1] == "        sums[vyre.wid(0)] = tile[0]"
    assert "barrier" in program


def test_a_kernel_with_constants_says_how_to_see_a_program():
    (form,) = forms_of(html_forms.scaled)
    assert form.tables[0][2][-1] == ["factor", "const", "", "", "3"]
    assert form.sentences == ["It has a Program for each value of its constants: specialize(factor=…) shows one."]
    (made,) = forms_of(html_forms.scaled.specialize(factor=5))
    assert made.title.startswith("scaled, specialized: ")
    assert "* 5" in made.code[0]


def test_a_kernel_that_is_none_tells_why():
    @vyre.kernel
    def wrong(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
        if a[0] > 1:
            value = 1
        out[0] = value

    kernel, mistake = forms_of(wrong)
    assert kernel.kind == "Kernel"
    assert (mistake.kind, mistake.title) == ("K003", "variable `value` is not assigned on every path that comes here.")
    assert mistake.code == ["out[0] = value\n         ^^^^^"]


@pytest.mark.parametrize("name", ["procedure", "procedure-function"])
def test_a_procedure_tells_its_steps(name):
    (form,) = forms_of(EXAMPLES[name]())
    procedure = html_forms.doubled_twice.procedure
    assert (form.kind, form.title) == ("Procedure", "doubled_twice")
    assert form.facts == {"programs": "1", "binary form": f"{len(procedure.to_bytes())} bytes"}
    steps = procedure.to_text().partition("\n")[2]
    assert re.sub(r"\s", "", form.code[0]) == re.sub(r"\s", "", steps)
    open_by_name = {each.text.split()[0]: "open" in each.attributes for each in form.whole.all("details")}
    assert (open_by_name["program"], open_by_name["repeat"]) == (False, True)


def test_a_procedure_with_constants_says_how_to_see_one():
    @vyre.procedure
    def repeated(x: vyre.InOut[vyre.u32], times: vyre.const):
        for _ in range(times):
            vyre.clear(x)

    (form,) = forms_of(repeated)
    assert form.tables[0][2] == [["x", "InOut", "u32", "1", ""], ["times", "const", "", "", ""]]
    assert form.sentences == ["It is a Procedure for each value of its constants: specialize(times=…) shows one."]


@pytest.mark.parametrize(
    ("shape", "dtype", "count"),
    [
        ((), "uint32", 1),
        ((5,), "int32", 5),
        ((100,), "uint8", 8 * 8 + 8 + 4),  # eight lines of eight, and the last two
        ((3, 4), "uint64", 12),
        ((2, 3, 4), "uint16", 24),
        ((20, 30), "int32", 10 * 14),
    ],
)
def test_an_array_tells_its_first_and_last_values(shape, dtype, count, target):
    values = (np.arange(np.prod(shape, dtype=int)) * 7 - 3).astype(dtype).reshape(shape)
    (form,) = forms_of(vyre.array(values, **target))
    assert form.facts["shape"] == str(shape)
    assert form.facts["dtype"] == dtype
    assert form.facts["size"] == f"{values.nbytes:,} bytes"
    assert form.facts["on"].startswith(target["backend"])
    ((_, heads, rows),) = form.tables
    shown = {}
    for row in rows:
        if len(row) > 1:
            first = [int(each) for each in row[0].split(", ")]
            start = first[0] if len(shape) < 2 else int(np.ravel_multi_index((*first, 0), shape))
            shown |= {start + int(head): cell for head, cell in zip(heads[1:], row[1:], strict=True) if cell.strip("…")}
    assert shown == {k: str(values.reshape(-1)[k]) for k in shown}
    assert len(shown) == count
    assert {0, values.size - 1} <= shown.keys()


def test_an_array_of_many_values_copies_few_of_them():
    a = vyre.arange(10_000_000, backend="cpu")
    (form,) = forms_of(a.reshape(1000, 10_000))
    ((_, heads, rows),) = form.tables
    assert heads == ["", *map(str, range(12)), "…", "9,998", "9,999"]
    assert rows[-1] == ["999", *(str(9_990_000 + k) for k in range(12)), "…", "9999998", "9999999"]
    assert rows[8] == ["… 990 more rows"]


def test_an_array_that_cannot_be_read_says_so():
    a = vyre.arange(4, backend="cpu")
    with vyre.graph():
        recorded = drawn(a)
    assert told(recorded)[0].sentences == ["Its values cannot be read while a graph is recorded."]
    assert told(drawn(vyre.empty(0, backend="cpu")))[0].sentences == ["It has no elements."]


def test_a_diagnostic_tells_the_rule_the_place_and_what_to_write():
    found = vyre.validate(html_forms.broken())[1]
    (form,) = forms_of(found)
    assert (form.kind, form.title) == ("V006", "reference to undeclared variable `j`.")
    assert form.facts["in the program"] == "entry[1].value.left"
    assert form.facts["in the source"].startswith(f"{html_forms.__file__}:{found.place.line}")
    line, marks = form.code[0].split("\n")
    assert line == 'Node.store("data", Expr.var("i"), Expr.var("j") + 1),'
    assert found.place.column is None or line[marks.index("^") : len(marks)] == 'Expr.var("j")'
    assert form.sentences == [
        "Fix: add `let j = ...;` before this use.",
        'In Python: write Node.let("j", value) before this statement.',
    ]


def test_an_error_of_many_lines_stays_small():
    assert len(vyre.VyreError("first\n" + "a line\n" * 100_000 + "Fix: write less.")._repr_html_()) < 20_000


def test_an_error_tells_its_problem_and_its_fix():
    (form,) = forms_of(html_forms.argument_error())
    assert form.kind == "ArgumentError"
    assert form.title == "argument `shape` of vyre.empty must be counts from 0 to 2^48 - 1, got -1."
    assert form.sentences == ["Fix: pass counts from 0 to 2^48 - 1."]
    head, *rest = forms_of(html_forms.validation_error())
    assert (head.kind, head.title) == ("ValidationError", "4 diagnostics: V003, V006, V005, V004")
    assert [each.kind for each in rest] == ["V003", "V006", "V005", "V004"]
    head, *rest = forms_of(html_forms.check_error())
    assert [each.kind for each in (head, *rest)] == ["CheckError", "Check", "race"]


def test_a_race_is_drawn_with_its_two_witnesses():
    report = html_forms.report("race")
    (form,) = forms_of(report)
    (svg,) = form.whole.all("svg")
    texts = [each.text for each in svg.all("text")]
    assert svg.all("title")[0].text == "write by invocation (0, 0, 0) and write by invocation (1, 0, 0) in no order"
    assert texts[:4] == ["out", "1", "2", "3"]
    assert texts[4:] == [
        *("first: invocation (0, 0, 0)", "of workgroup (0, 0, 0)", "writes 7"),
        *("second: invocation (1, 0, 0)", "of workgroup (0, 0, 0)", "writes 8"),
        "nothing orders them",
    ]
    cells = [each for each in svg.all("rect") if each.attributes.get("fill-opacity")]
    labels = {each.attributes["x"]: each.text for each in svg.all("text") if each.attributes["font-size"] == "10"}
    assert [labels[f"{float(cell.attributes['x']) + 18:g}"] for cell in cells] == ["3"]
    arrows = [each.attributes["d"] for each in svg.all("path")]
    assert len(arrows) == 2
    for arrow in arrows:  # both lead to the element
        x = float(re.match(r"M[\d.]+ [\d.]+H([\d.]+)V", arrow)[1])
        assert float(cells[0].attributes["x"]) < x < float(cells[0].attributes["x"]) + 36


@pytest.mark.parametrize(("access", "heads", "dots"), [("write", 1, 0), ("read", 0, 1), ("atomic_add", 1, 1)])
def test_what_a_witness_does_is_at_the_end_of_its_line(access, heads, dots):
    race = html_forms.report("race")
    (form,) = forms_of(dataclasses.replace(race, first=dataclasses.replace(race.first, access=access)))
    first, second = (each.attributes["d"] for each in form.whole.all("path"))
    assert first.count("M") - 1 == heads
    assert second.count("M") - 1 == 1
    assert len(form.whole.all("circle")) == dots


def test_a_checked_run_tells_its_reports():
    head, *reports = forms_of(EXAMPLES["check-result"]())
    assert (head.kind, head.title) == ("Check", "checks (all): 1 mistake was found.")
    assert [each.kind for each in reports] == ["race"]
    (right,) = forms_of(
        vyre.check(
            html_forms.program(), {"left": html_forms.WORDS, "right": html_forms.WORDS, "out": 8}, 1, checks="race"
        )
    )
    assert right.title == "checks (race): nothing was found."


def test_graphs_devices_and_backends_tell_what_they_are():
    (form,) = forms_of(html_forms.graph())
    assert (form.kind, form.title) == ("Graph", "3 calls on cpu")
    (form,) = forms_of(html_forms.device(usable=False, default=False, reasons=("It has no queue.",)))
    assert form.title == "Example 4000"
    assert form.facts == {
        "device": "0",
        "backend": "vulkan",
        "kind": "discrete gpu",
        "driver": "example 535.1",
        "state": "not usable",
    }
    assert form.sentences == ["It has no queue."]
    assert form.tables[0][2] == [["maxComputeSharedMemorySize", "49,152"], ["maxComputeWorkGroupInvocations", "1,024"]]
    assert form.tables[1][2] == [["division by zero", "gives zeros"]]
    assert [each.title for each in forms_of(vyre.devices())] == [each.name for each in vyre.devices()]
    assert told(type(vyre.devices())()._repr_html_())[0].title == "There is no GPU and no software GPU here."
    ((_, _, rows),) = forms_of(vyre.backends())[0].tables
    assert [row[0] for row in rows] == [*vyre.backends(), *vyre.backends().unavailable()]


def test_an_operation_tells_its_signature_laws_and_examples():
    spec = vyre.ops.get("primitive.math.gcd")
    (form,) = forms_of(spec)
    assert (form.kind, form.title) == ("Operation", "primitive.math.gcd@1")
    assert form.sentences == [spec.summary]
    assert form.facts == {
        "signature": "(a: u32, b: u32) -> u32",
        "laws": "Commutative, Associative, Idempotent",
        "convention": "Convention.V1()",
        "expanded in place": "yes",
    }
    rows = form.tables[0][2]
    assert [(tuple(int(each, 0) for each in given.split(", ")), int(gives, 0)) for given, gives in rows] == [
        (tuple(given), gives) for given, gives in spec.examples
    ]
    assert re.sub(r"\s", "", form.code[0]) in re.sub(r"\s", "", spec.body.to_text())
    assert vyre.ops.Operation(spec)._repr_html_() == drawn(spec)


def test_a_divergence_tells_where_and_both_values():
    found = html_forms.divergence()
    (form,) = forms_of(found)
    assert form.title == "rotates_too_far and reference first differ here"
    assert form.facts["invocation"] == str(found.invocation)
    assert form.facts["in the program"] == found.place.path
    assert form.facts["in the source"] == f"{html_forms.__file__}:{found.place.line}"
    assert form.facts["statement"] == found.statement.splitlines()[-1]
    assert form.tables[0][2] == [["rotates_too_far", "256 (0x100)"], ["reference", "128 (0x80)"]]
    unlocated = vyre.Divergence(found.output, 3, unlocated="nothing more is known")
    (form,) = forms_of(unlocated)
    assert form.title == f"rotates_too_far and reference differ at {found.output}, and nothing more is known."
    assert form.sentences == ["Fix: report the program with its text."]


def test_a_certificate_tells_its_levels():
    (form,) = forms_of(EXAMPLES["certificate"]())
    assert (form.kind, form.title) == ("Certificate", "reference interpreter")
    rows = {row[0]: row[2:] for row in form.tables[0][2]}
    assert rows["L4"] == ["passed", "8", "0", "0", "0", "0"]
    assert rows["L1"] == ["not run", "", "", "", "", ""]


# --- names are text ---


def named_program() -> Program:
    return Program(
        [BufferDecl.output(NAME, 0, vyre.u32)],
        (2, 1, 1),
        [Node.let(NAME, 1), Node.if_(Expr.var(NAME) < 2, [Node.store(NAME, 0, Expr.gid_x())])],
    )


def named_operation() -> vyre.OpSpec:
    signature = vyre.OpSignature([vyre.u32], vyre.u32)
    return vyre.OpSpec(f"a.{NAME}", signature, parameters=[NAME], result=Expr.var(NAME), summary=NAME)


def named_kernel() -> vyre.Kernel:
    kernel = vyre.kernel(html_forms.gcd._function)
    kernel.__doc__ = kernel.__name__ = NAME
    return kernel


def named_diagnostics() -> vyre.Diagnostics:
    return vyre.validate(Program(entry=[Node.assign(NAME, 1)]))


# Objects whose names their user chose.
NAMED = {
    "program": named_program,
    "diagnostics": named_diagnostics,
    "error": lambda: vyre.ValidationError(named_diagnostics()),
    "argument-error": lambda: vyre.ArgumentError(f"{NAME}\n{NAME}. Fix: {NAME}."),
    "check": lambda: vyre.check(named_program(), {NAME: 1}, 1),
    "race": lambda: vyre.check(named_program(), {NAME: 1}, 1).reports[0],
    "operation": named_operation,
    "kernel": named_kernel,
    "procedure": lambda: vyre.procedure(name=NAME)(html_forms.doubled_twice._function).procedure,
    "device": lambda: html_forms.device(name=NAME, driver=NAME, reasons=(NAME,), limits={NAME: 1}, probes={NAME: NAME}),
    "divergence": lambda: vyre.Divergence(
        vyre.OutputDifference(NAME, 0, {NAME: 1, "b": 2}), 1, unlocated=NAME, note=NAME
    ),
    "repetition": lambda: vyre.repeat(named_program(), {NAME: 1}, 1, backend="reference"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_users_name_is_text(name):
    html = drawn(NAMED[name]())
    forms = told(html)  # every element is closed
    tags = {each.tag for each in parsed(html).all("*")}
    assert tags & {"script", "img", "a", "iframe", "object", "link"} == set()
    assert "\u202e" not in html
    assert "<script" not in html
    shown = parsed(html).text.replace("\\\\u", "\\u").replace('\\"', '"').replace("\\u{202e}", "\\u202e")
    assert SHOWN in shown or (name == "kernel" and SHOWN in forms[0].title)
    assert not re.search(r"\son\w+=", re.sub(r'"[^"]*"', '""', "".join(re.findall(r"<[^>]*>", html))))


def test_attributes_cannot_end_early():
    assert element("p", title='" onclick="x') == '<p title="&quot; onclick=&quot;x"></p>'
    assert escaped("\ud800\x00\x1b") == "\\ud800\\x00\\x1b"


# --- small whatever they show ---


I = Expr.gid_x()  # noqa: E741
OUT = BufferDecl.output("out", 0, vyre.u32)
LONG = "x" * 100_000


def deep() -> Program:
    statements = [Node.store("out", I, 1)]
    for _ in range(2000):
        statements = [Node.if_(I < 5, statements)]
    return Program([OUT], (4, 1, 1), statements)


def wide() -> Program:
    value = Expr.u32(1)
    for _ in range(3000):
        value = value + Expr.load("out", I)
    return Program([OUT], (4, 1, 1), [Node.store("out", I, value)])


def many_reports() -> vyre.CheckResult:
    found = vyre.check(Program([OUT], (4, 1, 1), [Node.store("out", 0, I)]), {"out": 1}, 1)
    return dataclasses.replace(found, reports=found.reports * 5000)


LARGE = {
    "statements": lambda: Program([OUT], (4, 1, 1), [Node.store("out", I, k) for k in range(20_000)]),
    "deep": deep,
    "wide": wide,
    "buffers": lambda: Program([BufferDecl.read(f"b{k}", k, vyre.u32) for k in range(5000)]),
    "names": lambda: Program([BufferDecl.read(LONG, 0, vyre.u32)], (1, 1, 1), [Node.let(LONG, 1)]),
    "diagnostics": lambda: vyre.validate(Program(entry=[Node.assign(f"x{k}", 1) for k in range(5000)])),
    "message": lambda: vyre.validate(Program(entry=[Node.assign(LONG, 1)])),
    "error": lambda: vyre.ArgumentError(f"{LONG}. Fix: {LONG}."),
    "reports": many_reports,
    "array": lambda: vyre.empty(1 << 20, backend="cpu"),
    "array-of-rows": lambda: vyre.empty((1 << 10, 1 << 10), backend="cpu"),
    "array-of-axes": lambda: vyre.empty((2,) * 16, backend="cpu"),
}


@pytest.mark.parametrize("name", LARGE)
def test_forms_stay_small(name):
    html = drawn(LARGE[name]())
    told(html)
    assert len(html.encode()) < 100_000


def test_what_is_left_out_is_counted():
    forms = {name: forms_of(LARGE[name]()) for name in ("statements", "buffers", "diagnostics", "reports")}
    assert forms["statements"][0].code[0].endswith(f"… {20_001 - 160:,} more lines")
    assert forms["buffers"][0].tables[0][2][-1] == ["… 4,960 more buffers"]
    assert forms["diagnostics"][-1].title == "… 4,980 more"
    assert forms["reports"][-1].title == "… 4,980 more in .reports"


# --- colours ---


def test_the_text_form_is_coloured_by_what_its_words_are():
    def words(text, name):
        return [each.text.strip() for each in parsed(text_form(text)).all("span", name)]

    line = 'if %0 < len(out) { out[%0] = call("a.if", 0x1f, -7i32) # if'
    assert words(line, "w") == ["if"]
    assert words(line, "d") == ["%0", "%0", "0x1f", "7i32"]
    assert words(line, "f") == ["len", "call"]
    assert words(line, "s") == ['"a.if"']
    assert words(line, "c") == ["# if"]
    assert words("output scratch: vec2<u32>[length(x)] zeros", "w") == ["output", "zeros"]
    assert words("output scratch: vec2<u32>[length(x)] zeros", "t") == ["vec2<u32>"]
    assert words("scratch[0] = table", "w") == []
    assert words("} else {", "w") == ["else"]
    assert parsed(text_form(line)).text == line


def test_python_is_coloured_and_stays_as_it_is():
    source = (
        '@vyre.kernel\ndef f(a: In[u32], b: "str"):\n    """Doc\n    if."""\n    return a[0x1f] + g("#", \'"\') # if'
    )
    tree = parsed(python(source))
    assert tree.text == source
    assert [each.text for each in tree.all("span", "w")] == ["def", "return"]
    assert [each.text for each in tree.all("span", "s")] == ['"str"', '"""Doc\n    if."""', '"#"', "'\"'"]
    assert [each.text for each in tree.all("span", "c")] == ["# if"]


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_both_backgrounds(side):
    """WCAG 2: a contrast of 4.5 to 1."""
    for name in style.PALETTE.keys() - {"line", "sheet", "band"}:
        for behind in ("sheet", "band"):
            low, high = sorted(luminance(style.PALETTE[each][side]) for each in (name, behind))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, behind)


@pytest.mark.parametrize("colour", picture.COLOURS)
def test_bars_stand_out_from_both_sheets(colour):
    for sheet in style.PALETTE["sheet"]:
        low, high = sorted(map(luminance, (colour, sheet)))
        assert (high + 0.05) / (low + 0.05) >= 3


def test_the_style_names_nothing_of_the_page():
    rules = re.sub(r"@media[^{]*\{(.*?\})\}", r"\1", style.css())
    for selector in re.findall(r"([^{}]+)\{", rules):
        assert ".vyre" in selector, selector
    assert len(style.css()) < 6000
    assert "url(" not in style.css()


# --- how notebooks find them ---


def test_every_form_has_one_style_and_is_closed():
    for name, make in EXAMPLES.items():
        assert told(drawn(make())), name


NOTEBOOK = """
import vyre
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
program = vyre.Program(entry=[vyre.Node.let("y", 1)])
spec = vyre.ops.get("primitive.math.gcd")
for shown in (program, spec, vyre.validate(program)):
    made, _ = shell.display_formatter.format(shown)
    assert made["text/html"].startswith('<div class="vyre">'), made
    print(type(shown).__name__, "text/plain" in made)
"""


def test_ipython_finds_the_forms_of_the_core_whichever_is_imported_first():
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["Program True", "OpSpec True", "Diagnostics True"]


def test_forms_are_loaded_when_one_is_drawn():
    code = "import sys, vyre; a = vyre.validate(vyre.Program()); print(any('_html' in name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"


# --- examples ---


def classes_that_draw_themselves() -> set[type]:
    """Every class of the package with a `_repr_html_` of its own, in whatever module."""
    for found in pkgutil.walk_packages(vyre.__path__, "vyre."):
        if not found.name.startswith(("vyre.__main__", "vyre.dask", "vyre.conformance.test", "vyre.demo")):
            importlib.import_module(found.name)
    modules = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "vyre"]
    values = {value for module in modules for value in vars(module).values() if inspect.isclass(value)}
    return {value for value in values if "_repr_html_" in vars(value)}


def test_every_class_that_draws_itself_has_an_example():
    shown = [make() for make in EXAMPLES.values()]
    classes = classes_that_draw_themselves()
    assert {vyre.Program, vyre.Array, vyre.Kernel, vyre.ProcedureDivergence} <= classes
    assert {each.__name__ for each in classes if not any(isinstance(one, each) for one in shown)} == set()
