"""How the site is made: ``make docs``."""

import doctest
import sys
from pathlib import Path

from dualgap import __version__

sys.path.append(str(Path(__file__).parent / "_ext"))

project = "dualgap"
author = "the dualgap developers"
copyright = "the dualgap developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "plain_docstrings",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.py"]

# Links to headings, as on the web pages of a repository: page.md#its-heading.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "html_image"]

html_theme = "furo"
html_title = "dualgap"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False

# Annotations would mostly say Any; docstrings say what is meant.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 80
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
python_use_unqualified_type_names = True

# Digits beyond those on a page differ from machine to machine.
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
doctest_global_setup = "import warnings; warnings.simplefilter('error')"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"demo\.py",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1e6,
}
