"""Docstrings with names in one column and words in the next, as lists of definitions.

``name``   words about it, that may
           go on in further lines
"""

import re

ROW = re.compile(r"^(``[^`]+``(?:, ``[^`]+``)*) {2,}(\S.*)$")


def as_definitions(lines):
    """The same lines, with each row of columns as a term and its indented definition."""
    found, inside = [], False
    for line in lines:
        row = ROW.match(line)
        if row:
            found += [row[1], f"    {row[2]}"]
        elif inside and line.startswith("  "):
            found.append(f"    {line.strip()}")
        else:
            found.append(line)
        inside = bool(row) or (inside and line.startswith("  "))
    return found


def setup(app):
    def process(app, what, name, obj, options, lines):
        lines[:] = as_definitions(lines)

    app.connect("autodoc-process-docstring", process, priority=400)  # before napoleon
    return {"parallel_read_safe": True}
