"""The one style of all forms: its colours, in light and dark, and its rules.

A form has a background of its own, so that it is readable on any page. Its colours are the light ones unless the
reader's system is dark, or the page says what it is: JupyterLab, VS Code, Colab and Sphinx each do in their way.
JupyterLab's own variables give fonts, text and background, so that a form follows its themes.
"""

from __future__ import annotations

from functools import cache

__all__ = ["PALETTE", "css"]

# The colour of each role on a light and on a dark sheet. The contrast of text is at least 4.5 to 1; a test computes it.
PALETTE = {
    "ink": ("#1c2024", "#e6e9ec"),
    "soft": ("#57606a", "#9aa5b1"),
    "line": ("#d5dae0", "#3a424b"),
    "sheet": ("#ffffff", "#16191d"),
    "band": ("#f3f5f7", "#20252b"),
    "good": ("#17682f", "#6fd08c"),
    "bad": ("#b3261e", "#ff8a80"),
    "open": ("#8a5a00", "#f0c060"),
    "word": ("#7a3e9d", "#cda8f0"),
    "type": ("#0b6477", "#6fc7d8"),
    "number": ("#8f4a00", "#f0b070"),
    "name": ("#1f4fa3", "#8db8ff"),
}
# Colours that JupyterLab's theme decides, if there is one.
_THEMED = {"ink": "--jp-content-font-color1", "sheet": "--jp-layout-color0", "line": "--jp-border-color2"}
_LIGHT, _DARK = 0, 1
# How pages say what they are, whatever the reader's system is.
_PAGES = {
    _DARK: '[data-jp-theme-light="false"],.vscode-dark,[data-theme="dark"],html[theme="dark"]',
    _LIGHT: '[data-jp-theme-light="true"],.vscode-light,[data-theme="light"],html[theme="light"]',
}

# `.vyre.vyre` outweighs the rules that notebooks have for tables and code.
_RULES = """\
.vyre.vyre{color:var(--ink);background:var(--sheet);border:1px solid var(--line);border-radius:6px;
 box-sizing:border-box;max-width:76em;padding:.5em .8em;margin:.2em 0;text-align:left;
 font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif)}
.vyre.vyre :is(p,dl,dd,dt,ul,figure,table,pre,summary){margin:0;padding:0;border:0;background:none;color:inherit}
.vyre.vyre :is(code,pre,.code){font:12px/1.5 var(--jp-code-font-family,ui-monospace,monospace);background:none;
 color:inherit;padding:0}
.vyre p{overflow-wrap:anywhere}
.vyre .form+.form{border-top:1px solid var(--line);margin-top:.6em;padding-top:.5em}
.vyre :is(.form,.form>details)>*+*{margin-top:.35em!important}
.vyre .top{display:flex;flex-wrap:wrap;gap:.1em .7em;align-items:baseline}
.vyre .kind{font-size:12px;color:var(--soft);font-weight:600}
.vyre .title{font-weight:600;overflow-wrap:anywhere;min-width:0}
.vyre.vyre dl{display:flex;flex-wrap:wrap;gap:.1em 1.4em}
.vyre.vyre dl>div{display:flex;gap:.45em;min-width:0}
.vyre.vyre :is(dt,dd){float:none;width:auto;font-weight:400;overflow-wrap:anywhere;min-width:0}
.vyre.vyre dt{color:var(--soft);white-space:nowrap}
.vyre .wide{overflow-x:auto;max-width:100%}
.vyre.vyre table{border-collapse:collapse;table-layout:auto;width:auto;font-size:12px;color:inherit;margin:0}
.vyre.vyre caption{text-align:left;caption-side:top;color:inherit;font-weight:600;padding:.2em 0;font-size:13px}
.vyre.vyre tr:nth-child(n){background:none}
.vyre.vyre :is(td,th){text-align:left;vertical-align:top;padding:.15em 1.2em .15em 0;max-width:48em;background:none;
 border:0;border-bottom:1px solid var(--line);overflow-wrap:break-word;white-space:normal;color:inherit}
.vyre.vyre th{font-weight:600;color:var(--soft);white-space:nowrap}
.vyre.vyre :is(td,th).n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.vyre td>span{white-space:nowrap}
.vyre.vyre .soft{color:var(--soft)}.vyre.vyre .good{color:var(--good)}
.vyre.vyre .bad{color:var(--bad)}.vyre.vyre .open{color:var(--open)}
.vyre .code{white-space:pre;overflow-x:auto;background:var(--band)!important;border-radius:4px;
 padding:.4em .6em!important;tab-size:4}
.vyre .folds{padding-left:1.7em!important}
.vyre summary{cursor:pointer;color:inherit}
.vyre .folds summary{list-style:none;display:block;position:relative}
.vyre .folds summary::-webkit-details-marker{display:none}
.vyre .folds summary::before{content:"▾";position:absolute;left:-1.1em;color:var(--soft)}
.vyre .folds details:not([open])>summary::before{content:"▸"}
.vyre .folds details:not([open])>summary::after{content:" …";color:var(--soft)}
.vyre .code .w{color:var(--word)}.vyre .code .t{color:var(--type)}.vyre .code .d{color:var(--number)}
.vyre .code .f{color:var(--name)}.vyre .code .s{color:var(--good)}.vyre .code .c{color:var(--soft)}
.vyre .code .at{color:var(--bad);font-weight:600}
.vyre svg{display:block;max-width:100%;height:auto}
"""


@cache
def css() -> str:
    """The style as the text of a style element; it names no class but those within `.vyre`."""
    light, dark = _variables(_LIGHT), _variables(_DARK)
    return (
        f".vyre{{{light}}}@media (prefers-color-scheme:dark){{.vyre{{{dark}}}}}"
        f":is({_PAGES[_DARK]}) .vyre{{{dark}}}:is({_PAGES[_LIGHT]}) .vyre{{{light}}}"
        f"{_RULES}"
    ).replace("\n ", "")


def _variables(side: int) -> str:
    colours = {name: pair[side] for name, pair in PALETTE.items()}
    written = (
        f"--{name}:{f'var({_THEMED[name]},{value})' if name in _THEMED else value}" for name, value in colours.items()
    )
    return f"color-scheme:{'dark' if side == _DARK else 'light'};{';'.join(written)}"
