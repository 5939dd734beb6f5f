"""How Sphinx builds the documentation: make docs.

The repository is the source folder, so the address of a page is its path in the repository, and the
same relative links work in both. What is not a page of the documentation is left out by ``include_patterns``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import tsnbench

sys.path.insert(0, str(Path(__file__).parent))
import players

MECHANISMS = "docs/mechanisms"
# Where notebooks find what is stored beside them.
os.environ["TSNBENCH_DOCS"] = str(Path(__file__).parent)

project = "tsnbench"
copyright = "the authors of tsnbench"
release = tsnbench.__version__
version = release

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/**/*.md",
    "scenarios/README.md",
    "scenarios/papers/**/README.md",
    "scenarios/papers/**/figures.md",
    "*.md",
]
exclude_patterns = [".*", "**/.*", "crates", "fuzz", "node_modules", "python", "runs", "target", "tests"]
nitpicky = True
# Types in signatures may be without a page; functions, methods and exceptions that a page names may not.
nitpick_ignore_regex = [("py:class", ".*")]

# Markdown. An anchor of a heading is the one that code hosts make, so links within pages work in both places.
myst_enable_extensions = ["deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4

# Notebooks are Markdown; every build runs them, and a cell that fails ends the build.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"tsnbench {release}"
html_show_copyright = False
html_copy_source = False
html_additional_pages = {"index": "front.html"}
templates_path = ["_templates"]
copybutton_prompt_text = "$ "


def leave_folders(app: Sphinx, document: nodes.document) -> None:
    """A link to a folder of the repository has no page here: only its text stays."""
    here = (Path(app.srcdir) / app.env.docname).parent
    for link in list(document.findall(addnodes.pending_xref)):
        if link.get("reftype") == "myst" and (here / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def show_player(app: Sphinx, document: nodes.document) -> None:
    """The replay of a mechanism's scenario is below its picture."""
    name = app.env.docname
    picture = next(iter(document.findall(nodes.image)), None)
    if Path(name).parent != Path(MECHANISMS) or picture is None:
        return
    section = picture.parent.parent
    # After the picture and its words.
    place = section.index(picture.parent) + 2
    section.insert(place, nodes.raw("", players.frame(Path(name).name), format="html"))


def write_players(app: Sphinx, exception: Exception | None) -> None:
    """The files of the players, beside the built pages."""
    if exception is not None or app.builder.name != "html":
        return
    for page in sorted(Path(app.srcdir, MECHANISMS).glob("*.md")):
        if page.stem != "README":
            target = Path(app.outdir, MECHANISMS, page.stem + players.ENDING)
            players.write(page, target)


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", leave_folders)
    app.connect("doctree-read", show_player)
    app.connect("build-finished", write_players)
