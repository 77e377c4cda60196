"""Docstrings here are plain text, made to be read in an editor; this makes them reStructuredText.

Names in one column and words in the next become a list of definitions,

``name``   words about it, that may
           go on in further lines

and signs of formulas, as in |u_j − u_j*|, are not taken for markup.
"""

import re

NAME = r'(?:``[^`]+``|"\w+")'
ROW = re.compile(rf"^({NAME}(?:, {NAME})*) {{2,}}(\S.*)$")
NARROW = re.compile(rf"^({NAME}) (\S.*)$")  # the longest name of a column, once there is one
LITERAL = re.compile(r"(``.*?``|:[a-z:]+:`.*?`)")
SIGN = re.compile(r"(?<!\\)([|*])")
LAST_UNDERSCORE = re.compile(r"(?<!\\)(?<=\w)(_)(?=[\s,.:;)]|$)")


def as_definitions(lines):
    """Each row of columns as a term and its indented definition."""
    found, inside = [], False
    for line in lines:
        row = ROW.match(line) or (inside and NARROW.match(line))
        goes_on = inside and line.startswith("  ")
        if row:
            found += [row[1], f"    {row[2]}"]
        else:
            found.append(f"    {line.strip()}" if goes_on else line)
        inside = bool(row) or goes_on
    return found


def escaped(line, sign):
    """Such signs as they are, outside of literals and examples."""
    if line.startswith((">>>", "...")):
        return line
    parts = LITERAL.split(line)
    return "".join(part if k % 2 else sign.sub(r"\\\1", part) for k, part in enumerate(parts))


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")

    def before(app, what, name, obj, options, lines):
        lines[:] = [escaped(line, SIGN) for line in as_definitions(lines)]

    def after(app, what, name, obj, options, lines):
        lines[:] = [escaped(line, LAST_UNDERSCORE) for line in lines]

    # Between them napoleon reads the sections of parameters, and needs their names as they are.
    app.connect("autodoc-process-docstring", before, priority=400)
    app.connect("autodoc-process-docstring", after, priority=600)
    return {"parallel_read_safe": True}
