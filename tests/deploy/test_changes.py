"""The changes that a device needs: edits are applied to an independent model of a server."""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path
from xml.dom.minidom import Element, parseString

import pytest

from tsnbench.deploy.changes import Change, Has, changes, edit, same
from tsnbench.deploy.deploy import address, targets
from tsnbench.deploy.record import Entry, Record, load
from tsnbench.deploy.supported_modules import MODULES as NAMES
from tsnbench.deploy.supported_modules import restricted_to
from tsnbench.deploy.tree import KEYS, Node, UnreadableXmlError, read
from tsnbench.errors import InputError
from tsnbench.exports import export
from tsnbench.planning import plan
from tsnbench.scenario import load as load_scenario
from tsnbench.scenario import load_variants
from tsnbench.yang import xml

ROOT = Path(__file__).parents[2]
RICH = ROOT / "tests/exports/rich.yaml"
MODULES = Path(os.environ.get("TSNBENCH_YANG", ROOT.parent / "shared/yang"))
SCENARIOS = [RICH, ROOT / "tests/exports/policed.yaml", *sorted(ROOT.glob("scenarios/tutorial/*.yaml"))]
OPERATION = f"{{{xml.BASE}}}operation"


def texts(path: Path) -> list[str]:
    files = export(plan(load_variants(path)[0]).document, ["yang"]).files
    return [text for name, text in files.items() if name.endswith("yang.xml")]


def parts(one: Element) -> list[Element]:
    return [child for child in one.childNodes if isinstance(child, Element)]


def said(one: Element) -> str:
    return "".join(child.data for child in one.childNodes if not isinstance(child, Element)).strip()


def like(one: Element, other: Element) -> bool:
    """Whether two elements are the same instance: same name and keys, or, in leaf-lists, the same value."""
    if (one.localName, one.namespaceURI) != (other.localName, other.namespaceURI):
        return False
    if one.localName in ("port", "input-port", "stream") and not parts(one):
        return said(one) == said(other)
    own, others = ({child.localName: said(child) for child in parts(each)} for each in (one, other))
    return all(
        own.get(key) == others.get(key)
        for key in KEYS.get(one.localName or "", ())
        if key in own or key in others
    )


def apply(store: Element, request: Element) -> None:
    """Apply an `edit-config` to the model: merge, replace, remove (RFC 6241, 7.2)."""
    for child in parts(request):
        operation = child.getAttribute("nc:operation") or "merge"
        if operation != "merge":
            child.removeAttribute("nc:operation")
        here = next((one for one in parts(store) if like(one, child)), None)
        if here is None and operation == "merge" and parts(child):
            here = child.cloneNode(False)
            store.appendChild(here)
        if operation == "merge" and here is not None and parts(child):
            apply(here, child)
            continue
        if here is not None:
            store.removeChild(here)
        if operation != "remove":
            assert "nc:operation" not in child.toxml()
            store.appendChild(child)


def told(store: Element) -> Has:
    own = read(store.toxml())
    return Has(own, own)


def config(text: str) -> Element:
    root = parseString(text).documentElement
    assert root is not None
    return root


def plain(node: Node) -> object:
    """The content of a tree without order; an empty container counts as nothing."""
    below = sorted((plain(one) for one in node.children), key=repr)
    return (
        (node.name, node.text.rpartition(":")[2], [one for one in below if one])
        if below or node.text
        else None
    )


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_edits_make_the_requested_configuration_and_restore_the_previous_one(path: Path) -> None:
    """Edits lead from an empty configuration and from another node's, and back."""
    own = texts(path)[:6]
    empty = f'<config xmlns="{xml.BASE}"/>'
    for before, meant in [*itertools.product([empty], own), *itertools.pairwise([*own, *own[:1], empty])]:
        store, was = config(before), plain(read(before))
        wanted = changes(read(meant), told(store))
        apply(store, config(edit(wanted)))
        assert not changes(read(meant), told(store))
        apply(store, config(edit([one.back() for one in reversed(wanted)])))
        assert all(same(one.path, one.before, told(store)) for one in wanted)
        # Containers that an edit creates stay when it is undone, and are empty.
        found = plain(told(store).told)
        if was is None:
            assert not re.sub(r"[(\[\])', ]|None|interfaces|bridges|ptp|instances", "", repr(found)).strip(
                "config"
            )
        else:
            assert repr(found).count("'name'") == repr(was).count("'name'")


def test_a_configuration_is_written_as_it_was_read() -> None:
    for text in texts(RICH):
        tree = read(text)
        assert read(tree.text_of()) == tree
        assert "sched:set-gate-states" in text or "gate-control-entry" not in text
        assert ("sched:set-gate-states" in tree.text_of()) == ("sched:set-gate-states" in text)


def test_tables_that_are_not_in_the_plan_are_removed() -> None:
    right = next(text for text in texts(RICH) if "<admin-idle-slope>" in text)
    without = re.sub(
        r"<cbsa .*?</cbsa>|<frer .*?</frer>|<stream-identity .*?</stream-identity>", "", right, flags=re.S
    )
    assert [str(one) for one in changes(read(without), told(config(right)))] == [
        "remove interfaces/interface[eth2]/bridge-port/cbsa",
        "remove stream-identity[1]",
        "remove frer",
    ]


def test_a_container_with_nothing_in_it_is_not_missing() -> None:
    """That of a bridge without streams: servers leave it out when they are read back."""
    text = next(text for text in texts(RICH) if "<filtering-database>" in text)
    empty = re.sub(r"<filtering-database>.*?</filtering-database>", "<filtering-database/>", text, flags=re.S)
    without = empty.replace("<filtering-database/>", "")
    assert empty != without
    assert changes(read(empty), told(config(without))) == []
    replaced = {str(one).partition(" ")[0] for one in changes(read(empty), told(config(text)))}
    assert replaced == {"replace"}, "what is in it has to go"


def test_a_longer_list_leaves_nothing_behind() -> None:
    left = next(text for text in texts(RICH) if "<gate-states-value>8" in text)
    begin, end = (
        left.index("<gate-control-entry>\n              <index>1"),
        left.index("</admin-control-list>"),
    )
    short = left[:begin] + left[end:]
    (change,) = changes(read(short), told(config(left)))
    assert str(change) == "replace interfaces/interface[eth2]/bridge-port/gate-parameter-table"
    assert 'nc:operation="replace"' in edit([change])


@pytest.mark.parametrize(
    ("told_leaf", "expected"),
    [
        ("<supported-list-max>64</supported-list-max>", 0),
        ("<supported-list-max>2</supported-list-max>", 0),
        ("<supported-list-max>1</supported-list-max>", 1),
        ("", 1),
    ],
)
def test_a_devices_limits_are_raised_and_never_lowered(told_leaf: str, expected: int) -> None:
    left = next(text for text in texts(RICH) if "<gate-states-value>8" in text)
    has = left.replace("<supported-list-max>2</supported-list-max>", told_leaf)
    assert len(changes(read(left), told(config(has)))) == expected


def test_defaults_that_a_device_does_not_report_are_in_force() -> None:
    left = texts(RICH)[0]
    bare = read(left.replace("<enabled>true</enabled>", ""))
    assert len(changes(read(left), Has(bare, bare))) > 0
    assert not changes(read(left), Has(bare, read(left)))


def test_other_spellings_are_the_same() -> None:
    left = next(text for text in texts(RICH) if "<gate-states-value>8" in text)
    other = (
        left.replace('xmlns:sched="', 'xmlns:x="')
        .replace("sched:set", "x:set")
        .replace("02-00-00", "02:00:00")
    )
    assert other != left
    assert not changes(read(left), told(config(other)))
    # The same name in another module is another identity.
    wrong = left.replace(xml.SCHED + '">sched', xml.TYPES + '">sched')
    assert len(changes(read(left), Has(read(wrong), read(wrong)))) == 1


def test_names_of_modules_are_those_of_ieee() -> None:
    if not MODULES.is_dir():
        pytest.skip("needs IEEE's modules (TSNBENCH_YANG)")
    for namespace, name in NAMES.items():
        text = (MODULES / f"{name}.yang").read_text()
        assert re.search(rf'namespace\s+"?{re.escape(namespace)}"?', text), name


def test_narrowing_names_modules_and_places() -> None:
    left = next(text for text in texts(RICH) if "<gate-states-value>8" in text)
    kept, missing = restricted_to(read(left), read(left).namespaces() - {xml.SCHED_BRIDGE})
    assert "gate" not in kept.text_of()
    (line,) = missing.words()
    assert line == (
        "ieee802-dot1q-sched-bridge: interfaces/interface[eth1]/bridge-port/gate-parameter-table, "
        "interfaces/interface[eth2]/bridge-port/gate-parameter-table and 2 more"
    )


@pytest.mark.parametrize(
    "text", ["", "<a>", "<a></b>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "<a>\x00</a>", "not XML"]
)
def test_what_is_no_xml_is_refused(text: str) -> None:
    with pytest.raises(UnreadableXmlError):
        read(text)


def test_a_record_comes_back_and_none_is_overwritten(tmp_path: Path) -> None:
    left = texts(RICH)[0]
    wanted = changes(read(left), told(config(f'<config xmlns="{xml.BASE}"/>')))
    wanted += [Change(one.path, one.after, None) for one in wanted]
    record = Record("rich", "0", "begun", [Entry("left", "::1", 830, wanted)])
    first, second = record.create(tmp_path / "a.json"), record.create(tmp_path / "a.json")
    assert [first.name, second.name] == ["a.json", "a-2.json"]
    assert first.stat().st_mode & 0o077 == 0
    record.update(first, "done")
    assert load(first) == record
    assert load(second).state == "begun"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "x"}', '{"format": "tsnbench-deploy/1", "devices": [{"node": 1}]}']
)
def test_what_is_no_record_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.json: expected a record"):
        load(tmp_path / "r.json")


def test_a_record_with_a_change_of_everything_is_refused(tmp_path: Path) -> None:
    """An empty path would mean the whole configuration."""
    device = {"node": "a", "host": "h", "port": 1, "changes": [{"path": [], "before": None, "after": None}]}
    document = {"format": "tsnbench-deploy/1", "scenario": "", "plan": "", "state": "", "devices": [device]}
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="a change without a place"):
        load(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sw1", ("sw1", 830)),
        ("10.0.0.1:1830", ("10.0.0.1", 1830)),
        ("[fe80::1%eth0]:22", ("fe80::1%eth0", 22)),
        ("[::1]", ("::1", 830)),
    ],
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert address(text, "--netconf") == expected


@pytest.mark.parametrize("text", ["", ":", "a:b", "a:0", "a:65536", "::1", "a b", "[x", "http://a"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputError, match="--netconf: expected HOST"):
        address(text, "--netconf")


def test_which_node_is_where() -> None:
    document = plan(load_scenario(RICH)).document
    found = targets(document, "a:1", ["left", "right=b"])
    assert [(one.node, one.host, one.port) for one in found] == [("left", "a", 1), ("right", "b", 830)]
    for default, nodes, words in [
        (None, ["left"], r"expected left=HOST\[:PORT\]"),
        (None, [], "found neither"),
        ("a", [], "3 bridges: left, right, detour"),
        ("a", ["left", "right"], "right at a:830 is there twice"),
        (None, ["left=a", "left=b"], "left at b:830 is there twice"),
        (None, ["middle=a"], "expected one of camera"),
    ]:
        with pytest.raises(InputError, match=words):
            targets(document, default, nodes)
