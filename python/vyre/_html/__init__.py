"""The HTML forms in which notebooks show vyre's objects, in one visual style.

A form is data (parts.py): a kind, a title and parts. `sheet` joins forms and the style (style.py) into a piece of HTML.
markup.py escapes everything that is not finished HTML, so that a name chosen by a user is text and nothing else. The
others say what each form shows: programs.py, arrays.py, mistakes.py (diagnostics and errors), reports.py with the
pictures of races.py, and machines.py; code.py colours and folds. Classes call them from `_repr_html_`, those of the
core too.

Every form is small whatever it shows: rows, lines and letters are bounded, and it says how many were left out.
"""
