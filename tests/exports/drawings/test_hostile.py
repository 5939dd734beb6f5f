"""Hostile drawings: bombs, odd names and any bytes end with a message or a scenario."""

from __future__ import annotations

import base64
import zlib
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from tests.exports.drawings.test_drawings import CLAB, NETWORKX, PLAIN, YED, packed

from tsnbench.errors import InputError
from tsnbench.exports.lists import drawings
from tsnbench.exports.lists.drawings.drawing import Drawing
from tsnbench.scenario import read_scenario

READERS = {
    "drawio": drawings.drawio.read,
    "graphml": drawings.graphml.read,
    "containerlab": lambda path: drawings.containerlab.read(path).drawing,
}
LAUGHS = '<!DOCTYPE a [<!ENTITY b "cccccccccc"><!ENTITY d "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
OUTSIDE = '<!DOCTYPE a SYSTEM "file:///etc/passwd">'


def scenario(kind: str, content: str | bytes, tmp_path: Path) -> str:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    drawing: Drawing = READERS[kind](path)
    return drawings.scenario(drawing)


def graph(nodes: str, edges: str = "") -> str:
    return f"<graphml><graph>{nodes}{edges}</graph></graphml>"


def bomb(octets: int) -> str:
    deflating = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = deflating.compress(b" " * octets) + deflating.flush()
    return f"<mxfile><diagram>{base64.b64encode(content).decode()}</diagram></mxfile>"


BOMBS = {
    "laughs": ("drawio", f"{LAUGHS}<mxfile>&d;</mxfile>", "found <!DOCTYPE a>"),
    "outside": ("graphml", f"{OUTSIDE}<graphml/>", "found <!DOCTYPE a>"),
    "packed laughs": ("drawio", packed(f"{LAUGHS}<mxGraphModel>&d;</mxGraphModel>"), "found <!DOCTYPE a>"),
    "deflated": ("drawio", bomb(1 << 27), "expected a page of at most 16 MiB unpacked, found more"),
    "deep": ("graphml", "<a>" * 10_000, "expected at most 500000 elements in 200 levels, found more"),
    "long": ("graphml", graph("<node/>" * 500_001), "expected at most 500000 elements in 200 levels"),
    "nodes": (
        "graphml",
        graph(
            "".join(f'<node id="{n}"/>' for n in range(20_002)),
            "".join(f'<edge source="{n}" target="{n + 1}"/>' for n in range(20_001)),
        ),
        "expected at most 20000 nodes, found more",
    ),
    "links": (
        "graphml",
        graph('<node id="a"/><node id="b"/>', '<edge source="a" target="b"/>' * 100_001),
        "expected at most 100000 links, found more",
    ),
    "octets": ("drawio", " " * ((1 << 24) + 1), "expected at most 16 MiB, found"),
    "aliases": ("containerlab", "a: &a [*a]\ntopology: {nodes: {b: *a}}\n", "a node without a link: b"),
    "tags": ("containerlab", "topology: !!python/object/apply:os.system [id]\n", "expected YAML, found"),
    "levels": ("containerlab", "[" * 1_000_000, "expected YAML, found more than 200 levels"),
    "rows": ("containerlab", "- " * 500_000, "expected YAML, found more than 200 levels"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_with_a_message(name: str, tmp_path: Path) -> None:
    kind, content, message = BOMBS[name]
    with pytest.raises(InputError) as error:
        scenario(kind, content, tmp_path)
    assert message in str(error.value)


def test_many_equal_names_take_no_long_search(tmp_path: Path) -> None:
    nodes = "".join(f'<node id="{n}"><data key="label">x</data></node>' for n in range(5_000))
    edges = "".join(f'<edge source="0" target="{n}"/>' for n in range(1, 5_000))
    content = graph(nodes, edges).replace("<graph>", '<key id="label" attr.name="label"/><graph>', 1)
    assert "x-5000" in scenario("graphml", content, tmp_path)


NAMES = [
    "$(reboot)", "`id`", "; rm -rf /", "../../etc", "{a: b}", "- x", "# c", "null", "true", "all", "a -- b",
    "x" * 300, "\u202ed", "\U0001f697", "%s", "a\nb: c", "*a", "&amp;b", "&lt;!--",
]  # fmt: skip


def test_names_stay_names(tmp_path: Path) -> None:
    cells = "".join(
        f'<mxCell id="{n}" value="{one}" vertex="1"/><mxCell edge="1" source="{n}" target="hub"/>'
        for n, one in enumerate(NAMES)
    )
    model = f'<mxGraphModel><root><mxCell id="hub" value="switch" vertex="1"/>{cells}</root></mxGraphModel>'
    text = scenario("drawio", model, tmp_path)
    (found,) = read_scenario(text, "s.yaml")
    assert len(found.network.nodes) == len(NAMES) + 1
    assert "\u202e" not in text


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    kind, text = random.choice(
        [
            ("drawio", PLAIN),
            ("drawio", packed(PLAIN)),
            ("graphml", NETWORKX),
            ("graphml", YED),
            ("containerlab", CLAB),
        ]
    )
    content = bytearray(text.encode())
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(content))
        content[at : at + random.randrange(20)] = random.choice(
            [random.randbytes(2), b"", b'"', b"<a/>", b"1e99", bytes(content[at // 2 : at // 2 + 30])]
        )
    with suppress(InputError):
        read_scenario(scenario(kind, bytes(content), tmp_path), "s.yaml")
