"""How Sphinx builds the pages: offline, with every example run, and with every broken reference an error.

python -m sphinx -W -n --keep-going docs docs/_build
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

project = "modeseek"
author = "The modeseek developers"
copyright = "the modeseek developers; BSD 3-Clause"
version = release = re.findall(r'(?m)^version = "(.+)"$', (HERE.parent / "pyproject.toml").read_text("utf-8"))[0]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "plain_docstrings",
    "repository_links",
]
# what the gallery leaves beside its pages is no page
exclude_patterns = ["_build", "gallery/*.py", "gallery/*.ipynb"]
templates_path = ["_templates"]
nitpicky = True
smartquotes = False
highlight_language = "none"  # indented blocks are formulas and commands

myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# `name` in a docstring links to what it names, where there is a page of it
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|matplotlib|pandas)\..*")]

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "image_scrapers": ("films.films_and_figures",),
    "reset_modules": ("matplotlib",),
    "backreferences_dir": "gallery/used",
    "doc_module": ("modeseek",),
    "reference_url": {"modeseek": None},
    "thumbnail_size": (400, 280),
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "binder": {},
    "recommender": {"enable": False},
}

html_theme = "pydata_sphinx_theme"
html_title = "modeseek"
html_static_path = ["_static"]
html_css_files = ["modeseek.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "modeseek"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
}
html_sidebars = {"index": []}
