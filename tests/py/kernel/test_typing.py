"""Kernels as type checkers see them: mypy --strict and pyright's strict mode."""

import doctest
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import page_code
import vyre

# A checker reads the types of numpy anew each time, which takes seconds.
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FORMS = ["typed_forms.py", "kernels.py"]


def mypy(folder, files, *options):
    """The lines with errors, as (file, line): message."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *options, *files]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode in (0, 1), made.stderr
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", made.stdout, re.MULTILINE)
    return {(Path(file).name, int(line)): message for file, line, message in found}


def pyright(folder, files, mode, **more):
    """The lines with diagnostics, as (file, line): (severity, rule)."""
    settings = {"typeCheckingMode": mode, "include": files, "extraPaths": [str(Path(vyre.__file__).parents[1])], **more}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode in (0, 1), made.stderr
    told = json.loads(made.stdout)
    assert told["summary"]["filesAnalyzed"] == len(files)
    return {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1): (each["severity"], each.get("rule"))
        for each in told["generalDiagnostics"]
    }


def blocks(page):
    """The Python blocks of a page that have kernels, after each other."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.fixture
def forms(tmp_path):
    for name in FORMS:
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "page.py").write_text(blocks("python/vyre/docs/kernels.md"))
    return tmp_path


def test_the_forms_run():
    made = subprocess.run([sys.executable, HERE / "typed_forms.py"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def test_mypy_accepts_kernels(forms):
    assert mypy(forms, FORMS) == {}


def test_mypy_accepts_the_kernels_of_the_page_which_say_nothing_of_results(forms):
    assert mypy(forms, ["page.py"], "--allow-untyped-defs", "--allow-incomplete-defs") == {}


def test_the_stub_is_what_the_module_has():
    allowed = str(HERE / "stub_differences.txt")
    command = [sys.executable, "-m", "mypy.stubtest", "vyre._core", "--ignore-missing-stub", "--allowlist", allowed]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


def test_pyright_accepts_kernels(forms):
    assert pyright(forms, [*FORMS, "page.py"], "strict") == {}


# The pages and notebooks show code that users copy. All code of one stands in one file here, and there a few rules say
# nothing of it: cells show values by naming them, define a kernel once more, and ask what a check found that is there.
# Kernels that are refused, among them those with a variable that some path leaves out, stand beside right ones.
OFF = (
    "reportMissingImports",
    "reportOptionalMemberAccess",
    "reportPossiblyUnboundVariable",
    "reportPrivateImportUsage",
    "reportRedeclaration",
    "reportUnusedExpression",
)
# What the types of other packages refuse, although it runs.
REFUSED = (
    "client.run(vyre.dask.place).values()",  # distributed gives a coroutine or a dict by what the client is
    "dask.array.from_array(",  # which takes the name of its argument's default for its type
    "np.frombuffer(device.queue.read_buffer(",  # wgpu says ArrayLike for a memoryview
)


def code_of_pages():
    """The Python code of each page and notebook, by a name for a file."""
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("python/vyre/docs/*.md"), ROOT / "README.md"]
    for page in sorted(pages):
        found = [each.text for each in page_code.blocks(page.read_text(encoding="utf-8")) if each.language == "python"]
        code = "\n".join(doctest.script_from_examples(text) if ">>> " in text else text for text in found)
        if found:
            yield re.sub(r"\W", "_", str(page.relative_to(ROOT))) + ".py", code
    for page in sorted(ROOT.glob("notebooks/*.ipynb")):
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        yield f"notebook_{page.stem}.py", "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def test_pyright_accepts_the_code_of_pages_and_notebooks(tmp_path):
    code = dict(code_of_pages())
    assert {"README_md.py", "docs_tutorial_md.py", "python_vyre_docs_procedures_md.py"} <= code.keys()
    for name, text in code.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    # From 3.12 on checkers know that an array is a buffer.
    found = pyright(tmp_path, list(code), "standard", pythonVersion="3.12", **dict.fromkeys(OFF, False))
    told = {
        f"{name}:{line}: {code[name].splitlines()[line - 1].strip()} ({what})" for (name, line), what in found.items()
    }
    assert {each for each in told if not any(text in each for text in REFUSED)} == set()


def test_pyright_recommends_nothing_but_to_name_results_and_avoid_any_and_calls_in_defaults(forms):
    """The last because Python calls a default once; a number, as in `k: u32 = u32(3)`, never changes."""
    found = set(pyright(forms, FORMS, "recommended").values())
    rules = ("reportAny", "reportExplicitAny", "reportUnusedCallResult", "reportCallInDefaultInitializer")
    assert found <= {("warning", rule) for rule in rules}


def expected(*who):
    lines = (HERE / "typed_mistakes.py").read_text(encoding="utf-8").splitlines()
    seen = tuple(f"# {each}" for each in who)
    return {("typed_mistakes.py", number) for number, line in enumerate(lines, 1) if line.endswith(seen)}


def test_mypy_sees_mistakes(tmp_path):
    shutil.copy(HERE / "typed_mistakes.py", tmp_path)
    assert set(mypy(tmp_path, ["typed_mistakes.py"])) == expected("both")


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_pyright_sees_mistakes(tmp_path, version):
    shutil.copy(HERE / "typed_mistakes.py", tmp_path)
    found = pyright(tmp_path, ["typed_mistakes.py"], "standard", pythonVersion=version)
    assert set(found) == expected("both", "pyright")
