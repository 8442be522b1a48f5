"""Kernels as type checkers see them: mypy --strict and pyright's strict mode."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vyre

# A checker reads the types of numpy anew each time, which takes seconds.
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FORMS = ["typed_forms.py", "kernels.py"]


def mypy(folder, files, *options):
    """The lines with errors, as (file, line): message."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *options, *files]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode in (0, 1), made.stderr
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", made.stdout, re.MULTILINE)
    return {(Path(file).name, int(line)): message for file, line, message in found}


def pyright(folder, files, mode):
    """The lines with diagnostics, as (file, line): (severity, rule)."""
    settings = {"typeCheckingMode": mode, "include": files, "extraPaths": [str(Path(vyre.__file__).parents[1])]}
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


def test_mypy_accepts_the_package():
    """In strict mode, by the settings in pyproject.toml: all of vyre.std, the commands and the plugin of pytest."""
    command = [sys.executable, "-m", "mypy", "python/vyre", "python/pytest_vyre"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout


def test_the_stub_is_what_the_module_has():
    allowed = str(HERE / "stub_differences.txt")
    command = [sys.executable, "-m", "mypy.stubtest", "vyre._core", "--ignore-missing-stub", "--allowlist", allowed]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


def test_public_names_have_types():
    command = [sys.executable, "-m", "basedpyright", "--verifytypes", "vyre", "--ignoreexternal"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (score,) = re.findall(r"^Type completeness score: ([\d.]+)%$", made.stdout, re.MULTILINE)
    assert float(score) == 100, made.stdout


def test_pyright_accepts_kernels(forms):
    assert pyright(forms, [*FORMS, "page.py"], "strict") == {}


def test_pyright_recommends_nothing_but_to_name_results_and_avoid_any(forms):
    found = set(pyright(forms, FORMS, "recommended").values())
    assert found <= {("warning", rule) for rule in ("reportAny", "reportExplicitAny", "reportUnusedCallResult")}


def expected(*who):
    lines = (HERE / "typed_mistakes.py").read_text(encoding="utf-8").splitlines()
    seen = tuple(f"# {each}" for each in who)
    return {("typed_mistakes.py", number) for number, line in enumerate(lines, 1) if line.endswith(seen)}


def test_mypy_sees_mistakes(tmp_path):
    shutil.copy(HERE / "typed_mistakes.py", tmp_path)
    assert set(mypy(tmp_path, ["typed_mistakes.py"])) == expected("both")


def test_pyright_sees_mistakes(tmp_path):
    shutil.copy(HERE / "typed_mistakes.py", tmp_path)
    assert set(pyright(tmp_path, ["typed_mistakes.py"], "standard")) == expected("both", "pyright")
