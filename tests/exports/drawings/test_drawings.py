"""Drawn networks: draw.io compressed and plain, GraphML of yEd and NetworkX, topologies of containerlab."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest

from support.commands import tsnbench
from tsnbench.errors import InputError
from tsnbench.exports.lists import drawings
from tsnbench.exports.lists.drawings.drawing import Drawing, rate_of
from tsnbench.hosts.inventory.read import load_inventory
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import Scenario

SWITCH = "sketch=0;shape=mxgraph.networks.switch;fillColor=none"
CELLS = f"""<root><mxCell id="0"/><mxCell id="1" parent="0"/>
<mxCell id="a" value="&lt;b&gt;PLC&lt;/b&gt; 1&lt;div&gt;10.0.0.1&lt;/div&gt;" vertex="1" parent="1"/>
<mxCell id="s" value="Core" style="{SWITCH}" vertex="1" parent="1"/>
<mxCell id="p" value="p3" vertex="1" parent="s"><mxGeometry relative="1" as="geometry"/></mxCell>
<UserObject id="c" label="%name%" placeholders="1" name="Zone&#xa;East" kind="bridge">
  <mxCell style="rounded=1" vertex="1" parent="1"/></UserObject>
<mxCell id="d" value="Drive" vertex="1" parent="1"/>
<mxCell id="e" value="" style="shape=mxgraph.networks.server" vertex="1" parent="1"/>
<mxCell id="n" value="A note" vertex="1" parent="1"/>
<mxCell id="e1" value="100 Mbit/s, 15 m" edge="1" source="a" target="s" parent="1"/>
<mxCell id="e2" edge="1" source="p" target="c" parent="1"/>
<mxCell id="l2" value="10GBASE-T trunk" style="edgeLabel" vertex="1" parent="e2"/>
<mxCell id="e3" edge="1" source="c" target="d" parent="1"/>
<mxCell id="e4" edge="1" source="d" target="e" parent="1"/>
<mxCell id="e5" value="spare" edge="1" source="c" parent="1"/>
<mxCell id="e6" edge="1" source="d" target="e" parent="1"/>
</root>"""
PLAIN = f'<mxfile><diagram name="net"><mxGraphModel>{CELLS}</mxGraphModel></diagram></mxfile>'


def packed(text: str) -> str:
    """A page as draw.io compresses it."""
    deflating = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = deflating.compress(quote(text, safe="").encode()) + deflating.flush()
    page = base64.b64encode(content).decode()
    return f'<mxfile><diagram name="net">{page}</diagram></mxfile>'


def made(drawing: Drawing) -> tuple[Scenario, str]:
    text = drawings.scenario(drawing)
    (found,) = read_scenario(text, "scenario.yaml")
    assert plan(found)
    return found, text


def links(found: Scenario) -> list[tuple[str, str, int, int]]:
    """Both ends, the rate in bit/s and the cable in mm of each link."""
    return [(one.a, one.b, one.rate, one.cable) for one in found.network.links]


def said(text: str, part: str) -> list[str]:
    """What was decided, or not taken."""
    head = text.partition("\nname:")[0].partition(f"# {part}:\n")[2]
    lines = head.split("\n")
    return [line[4:] for line in lines[: next((n for n, one in enumerate(lines) if one[:3] != "#  "), None)]]


@pytest.mark.parametrize(
    "content",
    [PLAIN, packed(f"<mxGraphModel>{CELLS}</mxGraphModel>"), f"<mxGraphModel>{CELLS}</mxGraphModel>"],
    ids=["plain", "compressed", "model"],
)
def test_a_drawing_of_drawio(content: str, tmp_path: Path) -> None:
    path = tmp_path / "net.drawio"
    path.write_text(content, encoding="utf-8")
    found, text = made(drawings.drawio.read(path))
    kinds = {name: one.kind for name, one in found.network.nodes.items()}
    assert kinds == {
        "PLC-1": "station",
        "Core": "bridge",
        "Zone-East": "bridge",
        "Drive": "host",
        "server": "host",
    }
    assert links(found) == [
        ("PLC-1", "Core", 10**8, 15_000),
        ("Core", "Zone-East", 10**10, 0),
        ("Drive", "server", 10**9, 0),
        ("Drive", "server", 10**9, 0),
        ("Zone-East", "Drive", 10**9, 0),
    ]
    assert said(text, "Decided here") == [
        "stations by their label: PLC 1",
        "bridges by their shape: Core",
        "bridges by their attributes: Zone East",
        "hosts by their label and several links: Drive",
        "hosts by their shape and several links: server",
        "3 links have no rate; they have 1 Gbit/s",
        "the drawing has no streams; the stream `example` shows how one is written",
    ]
    assert said(text, "Not taken") == [
        "the address of PLC 1: 10.0.0.1",
        "the label of the link Core -- Zone East: trunk",
        "the label of the link Core -- Zone East: p3",
        "a line that is connected to Zone East alone (spare)",
        "a shape without a connection: A note",
    ]


def test_one_of_several_pages_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.drawio"
    page = PLAIN.removeprefix("<mxfile>").removesuffix("</mxfile>")
    path.write_text(f"<mxfile>{page}{page.replace('net', 'other')}</mxfile>", encoding="utf-8")
    done = tsnbench("import", "drawio", path)
    assert done.returncode == 2
    assert "expected one page, found 2: net, other" in done.stderr
    assert tsnbench("import", "drawio", path, "--page", "other").stdout.startswith(
        "# From the drawing net.drawio of draw.io, page other."
    )
    assert "expected the page x, found net, other" in tsnbench("import", "drawio", path, "--page", "x").stderr


BOX = '<mxGeometry x="{}" y="{}" width="40" height="40" as="geometry"/>'
LOOSE = f"""<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>
<mxCell id="z" value="Zone" style="swimlane" vertex="1" parent="1">{BOX.format(100, 0)}</mxCell>
<mxCell id="a" value="PLC" vertex="1" parent="z">{BOX.format(10, 20)}</mxCell>
<mxCell id="s" value="switch" vertex="1" parent="1">{BOX.format(300, 20)}</mxCell>
<mxCell id="t" value="a text" style="text;html=1" vertex="1" parent="1">{BOX.format(150, 40)}</mxCell>
<mxCell id="e" value="1G" edge="1" parent="1"><mxGeometry relative="1" as="geometry">
  <mxPoint x="155" y="45" as="sourcePoint"/><mxPoint x="295" y="45" as="targetPoint"/></mxGeometry></mxCell>
<mxCell id="f" edge="1" source="s" parent="1"><mxGeometry relative="1" as="geometry">
  <mxPoint x="500" y="45" as="targetPoint"/></mxGeometry></mxCell>
</root></mxGraphModel>"""


def test_lines_that_end_at_shapes_without_a_connection(tmp_path: Path) -> None:
    """The PLC lies inside of a zone, so that its coordinates are relative to it."""
    path = tmp_path / "net.drawio"
    path.write_text(LOOSE, encoding="utf-8")
    found, text = made(drawings.drawio.read(path))
    assert links(found) == [("PLC", "switch", 10**9, 0)]
    assert "a line that is not connected, but ends at these shapes: PLC -- switch" in said(
        text, "Decided here"
    )
    assert said(text, "Not taken") == [
        "a line that is connected to switch alone",
        "a shape without a connection: a text",
    ]


GROUPED = f"""<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>
<mxCell id="old" value="Old" parent="0" visible="0"/>
<mxCell id="z" value="Cabinet" style="swimlane" vertex="1" parent="1">{BOX.format(0, 0)}</mxCell>
<mxCell id="a" value="ECU1" vertex="1" parent="z">{BOX.format(0, 0)}</mxCell>
<mxCell id="s" value="Node 2" vertex="1" parent="z">{BOX.format(0, 90)}</mxCell>
<mxCell id="r" value="Rack" vertex="1" parent="1">{BOX.format(0, 0)}</mxCell>
<mxCell id="b" value="PLC 2" vertex="1" parent="r">{BOX.format(0, 0)}</mxCell>
<mxCell id="e" value="1,000 m" edge="1" source="a" target="s" parent="1"/>
<mxCell id="f" value="100M" edge="1" source="s" target="b" parent="1"/>
<mxCell id="l" value="1G" style="edgeLabel" vertex="1" parent="f"/>
<mxCell id="o" value="Ghost" vertex="1" parent="old"/>
<mxCell id="g" edge="1" source="s" target="o" parent="old"/>
</root></mxGraphModel>"""


def test_nodes_in_containers_and_hidden_layers(tmp_path: Path) -> None:
    """What is in a container or has the name of a device is no port; a hidden layer is not drawn."""
    path = tmp_path / "net.drawio"
    path.write_text(GROUPED, encoding="utf-8")
    found, text = made(drawings.drawio.read(path))
    assert links(found) == [("ECU1", "Node-2", 10**9, 0), ("Node-2", "PLC-2", 10**8, 0)]
    assert said(text, "Not taken") == [
        "hidden layers and shapes, with 1 lines",
        "the label of the link ECU1 -- Node 2: 1,000 m",
        "the label of the link Node 2 -- PLC 2: 1G, another rate",
    ]


DEFAULTS = """<graphml><key id="r" for="edge" attr.name="rate"><default>100 Mbit/s</default></key>
<key id="k" for="node" attr.name="kind"><default>station</default></key>
<graph edgedefault="directed"><node id="a"/><node id="b"><data key="k">switch</data></node><node id="c"/>
<edge source="a" target="b"><data key="r">10 Mbit/s</data></edge><edge source="b" target="a"/>
<edge source="b" target="c" directed="false"/><edge source="c" target="b" directed="false"/>
<edge source="a" target="a"/><edge source="a" target="a"/>
</graph></graphml>"""


def test_default_values_and_directions_of_graphml(tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    path.write_text(DEFAULTS, encoding="utf-8")
    found, text = made(drawings.graphml.read(path))
    assert links(found) == [("a", "b", 10**7, 0), ("b", "c", 10**8, 0), ("b", "c", 10**8, 0)]
    assert "1 directed edges have one back; both are one link, as the first has it" in said(
        text, "Decided here"
    )
    assert said(text, "Not taken") == ["a link from a to itself (2 times)"]


# Written by networkx 3.6.1, write_graphml.
NETWORKX = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d4" for="edge" attr.name="weight" attr.type="long" />
  <key id="d3" for="edge" attr.name="bandwidth_gbps" attr.type="double" />
  <key id="d2" for="edge" attr.name="length" attr.type="string" />
  <key id="d1" for="edge" attr.name="rate" attr.type="string" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="directed">
    <node id="0"><data key="d0">station</data></node>
    <node id="sw 1" />
    <node id="1"><data key="d0">switch</data></node>
    <node id="cam" />
    <edge source="0" target="sw 1"><data key="d1">100 Mbit/s</data><data key="d2">15 m</data></edge>
    <edge source="sw 1" target="0"><data key="d1">100 Mbit/s</data></edge>
    <edge source="sw 1" target="1"><data key="d3">2.5</data><data key="d4">7</data></edge>
    <edge source="1" target="cam" />
    <edge source="1" target="1" />
    <edge source="1" target="nobody" />
  </graph>
</graphml>
"""


def test_a_graph_of_networkx(tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    path.write_text(NETWORKX, encoding="utf-8")
    found, text = made(drawings.graphml.read(path))
    kinds = {name: one.kind for name, one in found.network.nodes.items()}
    assert kinds == {"n-0": "station", "sw-1": "bridge", "n-1": "bridge", "cam": "station"}
    assert links(found) == [
        ("n-0", "sw-1", 10**8, 15_000),
        ("sw-1", "n-1", 2_500_000_000, 0),
        ("n-1", "cam", 10**9, 0),
    ]
    assert said(text, "Not taken") == [
        "weight of the link sw 1 -- 1: 7",
        "a link from 1 to itself",
        "an edge to a node that is not there: nobody",
    ]


YED = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <key for="edge" id="d10" yfiles.type="edgegraphics"/>
  <graph edgedefault="directed" id="G">
    <node id="n0" yfiles.foldertype="group"><data key="d6"><y:ProxyAutoBoundsNode><y:Realizers>
      <y:GroupNode><y:NodeLabel>Cabinet</y:NodeLabel></y:GroupNode></y:Realizers></y:ProxyAutoBoundsNode></data>
      <graph edgedefault="directed" id="n0:">
        <node id="n0::n0"><data key="d6"><y:ShapeNode><y:NodeLabel>Switch A<y:LabelModel/></y:NodeLabel>
          <y:Shape type="rectangle"/></y:ShapeNode></data></node>
        <node id="n0::n1"><data key="d6"><y:GenericNode configuration="com.yworks.icon.Server">
          <y:NodeLabel>S 1</y:NodeLabel></y:GenericNode></data></node>
      </graph></node>
    <node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>S 1</y:NodeLabel></y:ShapeNode></data></node>
    <edge id="e0" source="n0::n0" target="n0::n1"><data key="d10"><y:PolyLineEdge>
      <y:EdgeLabel>1G / eth0<y:LabelModel/></y:EdgeLabel></y:PolyLineEdge></data></edge>
    <edge id="e1" source="n0::n0" target="n1"/>
  </graph>
</graphml>
"""


def test_a_drawing_of_yed_with_a_group(tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    path.write_text(YED, encoding="utf-8")
    found, text = made(drawings.graphml.read(path))
    kinds = {name: one.kind for name, one in found.network.nodes.items()}
    assert kinds == {"Switch-A": "bridge", "S-1": "station", "S-1-2": "station"}
    assert "stations by their shape: S 1" in said(text, "Decided here")
    assert "nodes with equal labels have numbers: S-1-2" in said(text, "Decided here")
    assert said(text, "Not taken") == [
        "the label of the link Switch A -- S 1: eth0",
        "a node without a link: Cabinet",
    ]


CLAB = """\
name: ring
topology:
  defaults: {kind: linux}
  kinds: {linux: {image: alpine}}
  nodes: {sw1: {}, sw2: {}, h1: {}, h2: {kind: linux}}
  links:
    - endpoints: ["h1:eth1", "sw1:eth1"]
    - endpoints: [{node: sw1, interface: eth2}, {node: sw2, interface: eth2}]
      mtu: 1500
    - {type: veth, endpoints: ["sw2:eth1", "h2:eth1"]}
    - endpoints: ["sw1:eth3", "host:v1"]
    - {type: mgmt-net, endpoint: {node: h1, interface: eth9}}
"""


def test_a_topology_of_containers_is_a_lab(tmp_path: Path) -> None:
    (tmp_path / "ring.clab.yml").write_text(CLAB, encoding="utf-8")
    done = tsnbench("import", "containerlab", "ring.clab.yml", "--into", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "scenario.yaml").read_text(encoding="utf-8")
    (found,) = read_scenario(text, "scenario.yaml")
    kinds = {name: one.kind for name, one in found.network.nodes.items()}
    assert kinds == {"sw1": "bridge", "sw2": "bridge", "h1": "station", "h2": "station"}
    assert said(text, "Not taken") == [
        "mtu of link 2",
        "link 4 out of the lab: sw1:eth3 -- host:v1",
        "link 5 out of the lab: mgmt-net",
    ]
    lab = load_inventory(tmp_path / "lab.yaml")
    assert {name: one.ssh for name, one in lab.hosts.items()} == {
        name: f"netns://clab-ring-{name}" for name in ("h1", "sw1", "sw2", "h2")
    }
    assert len(lab.wires) == 3


def test_an_interface_has_one_link(tmp_path: Path) -> None:
    (tmp_path / "x.clab.yml").write_text(CLAB.replace("sw2:eth1", "sw1:eth1"), encoding="utf-8")
    drawing = drawings.containerlab.read(tmp_path / "x.clab.yml").drawing
    assert "link 3: sw1:eth1 is in link 1 already" in drawing.lost
    assert [link.ends for link in drawing.links] == [("h1", "sw1"), ("sw1", "sw2")]


def test_a_topology_with_network_systems_is_no_lab(tmp_path: Path) -> None:
    path = tmp_path / "x.clab.yml"
    path.write_text(CLAB.replace("sw1: {}", "sw1: {kind: nokia_srlinux}"), encoding="utf-8")
    read = drawings.containerlab.read(path)
    assert read.lab == ""
    _, text = made(read.drawing)
    assert "a lab of hosts: nodes that are no Linux containers: sw1 (nokia_srlinux)" in said(
        text, "Not taken"
    )
    path.write_text("prefix: __lab-name\n" + CLAB, encoding="utf-8")
    assert "netns://ring-h1" in drawings.containerlab.read(path).lab


BY_RATE = {
    10**7: "10 Mb/s|10BASE-T1S|10M",
    10**8: "100 Mbit/s|100BASE-TX|100mbps|100 MBit/s",
    10**9: "1G|1000BASE-T1|1 Gbps|1 Gbit",
    2_500_000_000: "2.5GBASE-T|2,5 Gbit/s",
    10**10: "10GE|10GbE|10GBASE-SR",
    None: "eth0|Gi0/1|15 m|port 1000|100 kbit/s|999 Tbit/s|1,000 Mbit/s|1.000 Mbit/s|100 MB/s",
}
RATES = {text: bps for bps, several in BY_RATE.items() for text in several.split("|")}


@pytest.mark.parametrize("text", RATES)
def test_rates_in_labels(text: str) -> None:
    assert rate_of(text)[0] == RATES[text]


def test_a_network_of_routers_alone_is_one_of_hosts(tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    path.write_text(NETWORKX.replace("station", "router").replace("cam", "core router"), encoding="utf-8")
    found, text = made(drawings.graphml.read(path))
    assert {one.kind for one in found.network.nodes.values()} == {"host"}
    assert any("no two end stations have a path" in one for one in said(text, "Decided here"))


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("drawio", "<svg/>", "expected <mxfile> or <mxGraphModel> of draw.io, found <svg>"),
        ("drawio", "<mxfile/>", "expected the page 1, found none"),
        ("drawio", "<mxfile><diagram>!</diagram></mxfile>", "found a damaged one"),
        ("drawio", "<mxfile><diagram/></mxfile>", "found an empty one"),
        ("drawio", "<mxGraphModel/>", "expected nodes with links between them, found none"),
        ("graphml", "<a/>", "expected <graphml>, found <a>"),
        ("graphml", "a", "expected XML, found syntax error"),
        ("graphml", "<graphml/>", "expected nodes with links between them, found none"),
        ("containerlab", "a: {{b}}", "found a template"),
        ("containerlab", "name: x\n", "expected topology.nodes of containerlab, found none"),
        ("containerlab", "topology: {nodes: {a: {}}, links: 5}\n", "a node without a link: a"),
        ("containerlab", "topology: {nodes: {a: {}}, links: [5, {endpoints: 1}]}\n", "link 1: veth"),
    ],
)
def test_files_that_are_refused(kind: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    done = tsnbench("import", kind, path)
    assert done.returncode == 2
    assert message in done.stderr, done.stderr
    assert "tsnbench explain TSN0905" in done.stderr


def test_a_missing_file_is_named() -> None:
    with pytest.raises((InputError, OSError)):
        drawings.drawio.read(Path("nowhere.drawio"))
