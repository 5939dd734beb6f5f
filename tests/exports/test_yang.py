"""YANG data conforms to the published modules, and data that violates them is found."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tsnbench.errors import BackendError, InputError
from tsnbench.exports import export
from tsnbench.exports.yang_check import check, check_all
from tsnbench.plan.network import Network
from tsnbench.planning import plan
from tsnbench.scenario import load, load_variants

HERE = Path(__file__).parent
MODULES = Path(os.environ.get("TSNBENCH_YANG", HERE.parents[2] / "shared/yang"))

SCENARIOS = HERE.parents[1] / "scenarios"
SHIPPED = sorted(
    path
    for path in [*SCENARIOS.glob("tutorial/*.yaml"), *SCENARIOS.glob("papers/**/*.yaml")]
    if path.name != "lab.yaml"
)

published = pytest.mark.skipif(
    not (MODULES / "ieee802-dot1q-sched.yang").is_file() or shutil.which("yanglint") is None,
    reason="needs IEEE's modules (TSNBENCH_YANG) and yanglint (Debian: libyang2-tools)",
)


def rich() -> dict[str, Any]:
    return plan(load(HERE / "rich.yaml")).document


def policed(ats: bool) -> dict[str, Any]:
    """The same Plan with filters, stream gates and meters, or with ATS schedulers."""
    document = dict(rich())
    network = Network(document)
    node = next(number for number, one in enumerate(network.nodes) if one["name"] == "left")
    first = {
        "name": "video",
        "streams": [1],
        "priority": 3,
        "max_sdu_octets": 1000,
        "block_oversize": True,
        "gate": 0,
    }
    second: dict[str, Any] = {"name": "rest"}
    own: dict[str, Any] = {
        "node": node,
        "filters": [first, second],
        "gates": [
            {
                "base_time_ns": -1000,
                "cycle_ns": 125_000,
                "entries": [
                    {"open": True, "ipv": 3, "interval_ns": 25_000, "octets_max": 1500},
                    {"open": False, "interval_ns": 100_000},
                ],
                "close_on_invalid_rx": True,
            }
        ],
        "regeneration": [{"port": network.ports_of(node)[0], "pcp": [0, 0, 2, 3, 0, 0, 0, 0]}],
    }
    if ats:
        own["schedulers"] = [{"cir_bps": 10_000_000, "cbs_bits": 12_000, "group": 0}]
        own["groups"] = [{"name": "in", "max_residence_ns": 1_000_000}]
        first["scheduler"] = 0
    else:
        own["meters"] = [
            {"cir_bps": 10_000_000, "cbs_octets": 3000, "eir_bps": 0, "ebs_octets": 0, "drop_on_yellow": True}
        ]
        second["meter"] = 0
    document["policing"] = [own]
    return document


@published
@pytest.mark.parametrize(
    "document",
    [rich(), policed(False), policed(True), plan(load(HERE / "policed.yaml")).document],
    ids=["rich", "psfp", "ats", "policed"],
)
def test_the_data_of_every_node_conforms_to_the_modules(document: dict[str, Any]) -> None:
    done = export(document, ["yang"])
    texts = {name: text for name, text in done.files.items() if name.endswith("yang.xml")}
    assert len(texts) == len(document["nodes"])
    for text in texts.values():
        check(text, MODULES)


@published
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(SCENARIOS)))
def test_the_data_of_a_shipped_scenario_conforms_to_the_modules(path: Path) -> None:
    document = plan(load_variants(path)[0]).document
    done = export(document, ["yang"])
    texts = {name: text for name, text in done.files.items() if name.endswith("yang.xml")}
    assert len(texts) == len(document["nodes"])
    # Large networks have many nodes of the same kind: some 20 nodes are checked.
    check_all(dict(list(texts.items())[:: max(1, len(texts) // 20)]), MODULES)


@published
@pytest.mark.parametrize(
    ("what", "becomes"),
    [
        ("<supported-list-max>2</supported-list-max>", ""),
        ("<supported-list-max>2</supported-list-max>", "<supported-list-max>1</supported-list-max>"),
        ("<supported-interval-max>450000</supported-interval-max>", ""),
        ("<gate-states-value>8</gate-states-value>", "<gate-states-value>256</gate-states-value>"),
        ("<bridge-name>left</bridge-name>", "<bridge-name>right</bridge-name>"),
    ],
)
def test_known_violations_are_found(what: str, becomes: str) -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    assert what in text
    with pytest.raises(InputError):
        check_all({"good": text, "bad": text.replace(what, becomes)}, MODULES)


def test_identities_have_the_prefix_that_is_compared() -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    assert set(re.findall(r"<operation-name[^>]*>(\w+):", text)) == {"sched"}
    assert text.count("<supported-list-max>") == text.count("<gate-parameter-table")


def test_a_missing_program_or_module_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = export(rich(), ["yang"]).files["left/yang.xml"]
    with pytest.raises(BackendError, match="libyang2-tools"):
        check(text, tmp_path, program="no-such-yanglint")
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    with pytest.raises(InputError, match="ietf-interfaces"):
        check(text, tmp_path)
