"""Files of the package import each other in no circle, and functions import nothing.

The same holds for the C files of the guest's device: one needs the file that defines a name which it uses.
"""

from __future__ import annotations

import re
from pathlib import Path

from support.package_imports import PACKAGE, circle, files, imports, late

LATE_FILES = {
    "__init__.py": "what notebooks use is loaded when they use it",
    "__main__.py": "a signal that comes while the command line is loaded ends it as later",
}
"""Files whose functions import modules, with reasons. Libraries have ``tsnbench/libraries.py``."""


def test_no_files_import_each_other_in_a_circle() -> None:
    """Every import counts: at the top of a file, in a function, and for types only."""
    graph = {file: {files()[module] for module in modules} - {file} for file, modules in imports().items()}
    assert circle(graph) == ""


def test_functions_import_nothing() -> None:
    assert late() == set(LATE_FILES)


C_NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
C_DEFINED = re.compile(r"^(?!static |extern )[a-z][^\n(=;]*?(tsn_\w+)(?:\([^;{]*\)\n\{| =|;)", re.MULTILINE)
"""A function or a variable that other files may use, as its name begins a line of its definition."""


def c_needs(texts: dict[str, str]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The file that defines each shared name, and the files that each file needs."""
    sources = {file: C_NOISE.sub('""', text) for file, text in texts.items()}
    homes = {name: file for file, text in sources.items() for name in C_DEFINED.findall(text)}
    used = {file: set(re.findall(r"\btsn_\w+", text)) & homes.keys() for file, text in sources.items()}
    return homes, {file: {homes[name] for name in names} - {file} for file, names in used.items()}


def folder_texts(folder: Path, ending: str) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"*{ending}"))}


def test_no_c_files_need_each_other_in_a_circle() -> None:
    module = PACKAGE / "backends/vm/module"
    homes, graph = c_needs(folder_texts(module, ".c"))
    assert circle(graph) == ""
    # Every name that a header declares is found in the file that defines the name.
    headers = "".join(C_NOISE.sub("", text) for text in folder_texts(module, ".h").values())
    declared = set(re.findall(r"^[a-z][^\n(]*?(tsn_\w+)(?:\([^{]*?\))?;", headers, re.MULTILINE))
    assert declared == homes.keys()
    headers_needed = {
        file: set(re.findall(r'#include "(.+)"', text)) for file, text in folder_texts(module, ".h").items()
    }
    assert circle(headers_needed) == ""


def test_a_circle_of_c_files_is_found() -> None:
    texts = {
        "a.c": "s64 tsn_now(void)\n{\n\treturn tsn_zero;\n}\n",
        "b.c": "const s64 tsn_zero = 0;\nstatic void f(void)\n{\n\ttsn_now();\n}\n",
    }
    homes, graph = c_needs(texts)
    assert homes == {"tsn_now": "a.c", "tsn_zero": "b.c"}
    assert circle(graph) == "a.c needs b.c needs a.c"
    texts["b.c"] = "/* tsn_now() */\nconst s64 tsn_zero = 0;\n"
    assert circle(c_needs(texts)[1]) == ""
