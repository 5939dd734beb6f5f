"""The types in a Python file."""

from __future__ import annotations

import ast
from pathlib import Path


def annotations(path: Path) -> dict[str, dict[str, str] | str]:
    """The objects and aliases of a Python file: keys with their annotations, or the text of an alias."""
    found: dict[str, dict[str, str] | str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            own = {ast.unparse(one.target): ast.unparse(one.annotation) for one in fields}
            bases = [found.get(ast.unparse(base)) for base in node.bases]
            inherited = [base for base in bases if isinstance(base, dict)]
            found[node.name] = {key: text for keys in (*inherited, own) for key, text in keys.items()}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value, name = node.value, node.targets[0].id
            if isinstance(value, ast.Call):
                # A key that Python reserves, such as ``class``.
                table = value.args[1]
                assert isinstance(table, ast.Dict)
                pairs = zip(table.keys, table.values, strict=True)
                found[name] = {ast.literal_eval(key): ast.unparse(own) for key, own in pairs if key}
            elif name != "__all__":
                found[name] = ast.unparse(value)
    return found
