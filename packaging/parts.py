"""What a wheel is made of: foreign crates that are linked into it, and Python packages that it needs.

``python packaging/parts.py sbom`` prints the bill of materials (CycloneDX 1.6, JSON); ``licences`` prints the
page docs/reference/licences.md. Both are made from Cargo.lock and requirements/run.lock, so they name exact
versions.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINKED = ("tsn-python", "tsn-traffic")
"""The crates that a wheel has: the native module and the live talker."""
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


@dataclass(frozen=True, order=True)
class Part:
    """A crate or a package of others."""

    kind: str
    """``cargo`` or ``pypi``, as package URLs have it."""
    name: str
    version: str
    licence: str
    sha256: tuple[str, ...]

    @property
    def url(self) -> str:
        """The package URL (ECMA-427)."""
        return f"pkg:{self.kind}/{self.name}@{self.version}"


def version() -> str:
    """The version of tsnbench: the workspace's."""
    told: dict[str, Any] = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(told["workspace"]["package"]["version"])


def crates() -> list[Part]:
    """The foreign crates that a wheel is built from: those of tests alone are left out."""
    found: dict[str, dict[str, Any]] = {}
    for platform in PLATFORMS:
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", platform]
        told = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
        packages = {one["id"]: one for one in told["packages"]}
        needs = {one["id"]: one["deps"] for one in told["resolve"]["nodes"]}
        waiting = [one["id"] for one in told["packages"] if one["name"] in LINKED]
        seen = set(waiting)
        while waiting:
            for one in needs[waiting.pop()]:
                kinds = {kind["kind"] for kind in one["dep_kinds"]}
                if kinds - {"dev"} and one["pkg"] not in seen:
                    seen.add(one["pkg"])
                    waiting.append(one["pkg"])
        found |= {place: packages[place] for place in seen if packages[place]["source"]}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {(one["name"], one["version"]): one.get("checksum", "") for one in locked}
    return sorted(
        Part(
            "cargo",
            one["name"],
            one["version"],
            one["license"].replace("/", " OR "),
            (sums[one["name"], one["version"]],),
        )
        for one in found.values()
    )


def packages() -> list[Part]:
    """The Python packages that tsnbench needs where it runs, with those of its extras.

    Raises:
        SystemExit: one of them is not installed, so its licence is not known.
    """
    text = (ROOT / "requirements/run.lock").read_text(encoding="utf-8")
    found = []
    for name, number, rest in re.findall(r"^([\w.-]+)==([\w.]+)(.*(?:\n    .*)*)", text, re.MULTILINE):
        try:
            licence = _licence(name)
        except PackageNotFoundError:
            if ";" in rest.partition("--hash")[0]:
                continue  # for another Python or another system
            raise SystemExit(f"{name} is not installed: run make run first") from None
        found.append(Part("pypi", name, number, licence, tuple(re.findall(r"sha256:(\w+)", rest))))
    return sorted(found)


def _licence(name: str) -> str:
    """The licence that a package states: an SPDX expression, or else the words of its classifiers."""
    told = metadata(name)
    if expression := told.get("License-Expression"):
        return str(expression)
    classifiers = told.get_all("Classifier") or []
    words = [one.split(" :: ")[-1] for one in classifiers if one.startswith("License :: OSI Approved :: ")]
    return " and ".join(words) or str(told.get("License") or "not stated").split("\n")[0]


def bill() -> dict[str, Any]:
    """The bill of materials, as CycloneDX 1.6 has it; without a date, so it is the same each time."""
    own = f"pkg:pypi/tsnbench@{version()}"
    parts = [*crates(), *packages()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "tsnbench",
                "version": version(),
                "purl": own,
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [_component(one) for one in parts],
        "dependencies": [{"ref": own, "dependsOn": [one.url for one in parts]}],
    }


def _component(part: Part) -> dict[str, Any]:
    spdx = re.fullmatch(r"[\w.()+ -]+", part.licence) and not re.search(
        r"License|Software|stated", part.licence
    )
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.url,
        "name": part.name,
        "version": part.version,
        "purl": part.url,
        "licenses": [{"expression": part.licence}] if spdx else [{"license": {"name": part.licence}}],
    }
    # A package has one file for each system: which one is installed is not known here.
    if part.kind == "cargo":
        made["hashes"] = [{"alg": "SHA-256", "content": one} for one in part.sha256]
    return made


def page() -> str:
    """The page of licences."""
    lines = [
        "# Licences of what tsnbench is made of",
        "",
        "`python packaging/parts.py licences` writes this page from the lock files; a test compares it.",
    ]
    for heading, parts in (
        ("Rust crates in the native module and the live talker", crates()),
        ("Python packages, with those of all extras", packages()),
    ):
        lines += ["", f"## {heading}", "", "| name | version | licence |", "|---|---|---|"]
        lines += [f"| {one.name} | {one.version} | {one.licence} |" for one in parts]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("sbom", "licences"))
    print(json.dumps(bill(), indent=2) if parser.parse_args().what == "sbom" else page().rstrip("\n"))


if __name__ == "__main__":
    main()
