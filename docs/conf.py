"""Sphinx's settings for the documentation site, which `make docs` builds.

The folder of sources is the root of the repository, so that the pages of the package, README and the others are read
where they are, and their links to one another hold here as in a checkout.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]

project = "vyre"
author = "The vyre maintainers"
copyright = author
release = re.search(r"project\(vyre VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "python/vyre/docs/*.md",
    "python/vyre/reference.md",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "STYLE.md",
    "bench/README.md",
]
# What has none of these pages is not searched.
exclude_patterns = ["build", "dist", ".venv", ".git", "cpp", "tests", "python/vyre/[!dr]*"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links such as kernels.md#parameters-and-calls, as on other sites that show Markdown

# Docstrings: sections of the house beside Google's; names between single backticks are code.
napoleon_custom_sections = [("Gives", "returns_style"), "Source"]
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes that a class's docstring lists are described once
default_role = "code"
autodoc_member_order = "bysource"

# Types in signatures that have no entry of their own: those of numpy and Python, and aliases of the package.
nitpick_ignore_regex = [("py:(class|obj)", r"(?!vyre\.[A-Za-z.]+$).*"), ("py:class", r"vyre\.(_|.*\._).*")]
# `type` in a signature is Python's, though attributes of that name are described too.
suppress_warnings = ["ref.python"]

# Folders, which a checkout shows and a site has no page of: their links become text.
nitpick_ignore = [("myst", folder) for folder in ("docs", "notebooks", "notices", "python/vyre/docs")]

html_theme = "furo"
html_title = f"vyre {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


def made(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds what `vyre.explain` says to the page of rules, and autodoc's directives to pages that list names."""
    if page == "docs/rules":
        source[0] += rules()
    if page.startswith("docs/api/"):
        source[0] = re.sub(r"^```\{documented\} (.*)\n([^`]*)```$", documented, source[0], flags=re.MULTILINE)


def documented(block: re.Match[str]) -> str:
    """The directives of autodoc for the names of a block, which begins with their module."""
    module = importlib.import_module(block[1])
    parts = [f"```{{eval-rst}}\n.. currentmodule:: {block[1]}\n"]
    for name in block[2].split():
        value = getattr(module, name)
        kind = "class" if isinstance(value, type) else "function"
        if kind == "class" and issubclass(value, BaseException):
            kind = "exception"
        members = "   :members:\n" if kind == "class" and not hasattr(value, "__members__") else ""
        parts.append(f"\n.. auto{kind}:: {name}\n{members}")
    return "".join([*parts, "```"])


def rules() -> str:
    import vyre
    from vyre._kernel.mistakes import RULES

    programs, procedures, notes = (
        [row[0] for row in vyre._core._tables[name]] for name in ("rules", "procedure_rules", "notes")
    )
    parts = []
    for rule in [*sorted(programs), *RULES, *procedures, *notes]:
        title, _, text = vyre.explain(rule).partition("\n" if rule not in RULES else ": ")
        parts.append(f"\n## {title}\n\n```text\n{text.strip()}\n```\n")
    return "".join(parts)


def as_restructured_text(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: what reStructuredText would read as markup of its own is escaped."""
    label = False
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[k] = re.sub(r"(?<![`\w.])(\w+)_(?![\w`])", r"\1\\_", line)  # `if_` is no link to something named `if`
        # A section that begins beside its title goes on indented.
        begins = re.match(r"(Gives|Raises|Returns|Source): (?=\S)", line)
        if begins:
            lines[k] = f"**{begins[1]}:** {lines[k][begins.end() :]}"
        label = bool(line) and (label or bool(begins))
        if label and not begins:
            lines[k] = lines[k].lstrip()
    if what in ("property", "attribute") and lines:
        # Napoleon takes what stands before a colon of the first line for a type; a comment is then the first line.
        lines[:0] = ["..", ""]


def with_pictures(app: Sphinx, page: str, source: list[str]) -> None:
    """The page of benchmarks ends with the pictures of their results, which .ci/site has drawn."""
    if page == "bench/README":
        names = sorted(path.stem for path in (ROOT / "build/bench/pictures").glob("*.svg"))
        pictures = [f"![{name.replace('-', ' ')}](../build/bench/pictures/{name}.svg)" for name in names]
        source[0] += "\n\n".join(["\n## Pictures", *pictures, ""])


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_pictures)
    app.connect("autodoc-process-docstring", as_restructured_text, priority=400)
    app.connect("source-read", made)
