"""Recognition of files by content: one line names the format and the next step, without a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded
from tsnbench.foreign_files import FORMATS, recognise

RTC = b"[00001700.000000001]: [INFO]: TsnHighSent=5 | TsnHighReceived=4 | \n"
CONTENTS: dict[str, bytes] = {
    "capture": b"\x4d\x3c\xb2\xa1" + bytes(20),
    "isochron": b"ISOCHRON" + bytes(100),
    "netlatency": b'{"type":"rx-packet","object":{"stream-id":3}}\n',
    "rtc-testbench": RTC,
    "linuxptp": b"Nov 22 10:00:00 host ptp4l: [17.024] port 1: INITIALIZING to LISTENING on INIT_COMPLETE\n",
    "chrony": b"2026-11-28 10:00:00 PPS0 2 -3.541 0.075 -8.6e-06 N 2 2.9e-03 -2.0e-04 1.5e-02 3e-04 8e-03\n",
    "isochron-summary": b"Summary:\nPath delay: min 2103 max 2157 mean 2131.404 stddev 12.7\n",
    "tcpreplay": b"Actual: 1 packets (60 bytes) sent in 0.10 seconds\n",
    "trafgen": b"\r         100 packets outgoing\n\r       10000 bytes outgoing\n",
    "cyclictest": b"# /dev/cpu_dma_latency set to 0us\npolicy: fifo: loadavg: 0.0 0.0 0.0 1/100 77\n",
    "omnetpp": b"version 2\nrun General-0-20261122-10:00:00-1\nattr configname General\n",
    "omnetpp-ini": b"# exported\n[General]\nnetwork = Ring\n",
    "ned": b"package ring;\n\nimport inet.networks.base.TsnNetworkBase;\n",
    "excel": b"PK\x03\x04\x14\x00\x00\x00\x08\x00[Content_Types].xml",
    "packed: gzip -d": b"\x1f\x8b\x08\x00",
    "packed: xz -d": b"\xfd7zXZ\x00\x00\x04",
    "packed: zstd -d": b"\x28\xb5\x2f\xfd\x00",
    "packed: bzip2 -d": b"BZh91AY",
    "packed: unzip": b"PK\x03\x04",
    "parquet": b"PAR1\x15\x04",
    "tsnbench": b'{\n  "format": "tsnbench-plan/1"\n}',
    "saihu": b'{\n  "name": "n",\n  "flow_e2e_delay": {}\n}',
    "saihu-network": b'{"network": {}, "flows": [{"arrival_curve": {}}]}',
    "trdp-xml": b'<?xml version="1.0"?>\n<device xmlns:x="y" host-name="ed1">\n</device>',
    "drawio": b'<mxfile host="app.diagrams.net"><diagram/></mxfile>',
    "graphml": b"<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns='http://graphml.graphdrawing.org/xmlns'/>",
    "arxml": b'<?xml version="1.0"?>\n<!-- x -->\n<AUTOSAR xmlns="http://autosar.org/schema/r4.0"/>',
    "xml": b"<?xml version='1.0'?><data/>",
    "scenario": b"network:\n  switches: [a]\nstreams:\n  s: {}\n",
    "flextest": b",Latency (ns),Frame No.,Source\n1,20000,7,audio\n",
    "flextest-statistics": b"stream,measurement,var,minimum,maximum,median,mean,std\n",
    "engine": b",timestamp_ns,packet_size_bytes,udp_tai_nanoseconds,udp_tai_sequence\n",
    "engine-delays": b",timestamp_ns,delay_ns\n",
    "tsnkit": b"stream,src,dst,size,period,deadline,jitter\n0,1,[2],100,1000,1000,0\n",
    "json": b'[{"a": 1}]',
    "csv": b"a;b;c\n1;2;3\n",
    "text": b"hello\n",
}


def test_every_format_has_an_example() -> None:
    assert list(CONTENTS) == [one.name for one in FORMATS]


@pytest.mark.parametrize("name", CONTENTS)
def test_a_format_is_recognised_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / "anything.bin"
    path.write_bytes(CONTENTS[name])
    found = recognise(path)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", [name for name in CONTENTS if name != "capture"])
def test_measure_says_what_is_no_capture(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENTS[name])
    done = tsnbench("measure", "--tx", path, "--rx", path)
    what = next(one.what for one in FORMATS if one.name == name)
    assert done.returncode == 2
    first, hint = uncoded(done.stderr).splitlines()
    assert first == f"{path}: expected a capture (pcap or pcapng), found {what}"
    assert hint.startswith("hint: ")


UNKNOWN = [b"", b"\x00\x01\x02", b"\xff\xfe\x00\x00"]
NOT_MEASURED = [CONTENTS[one.name] for one in FORMATS if one.measure is None and not one.capture]


@pytest.mark.parametrize("content", [*NOT_MEASURED, *UNKNOWN])
def test_measure_says_what_it_cannot_measure(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    done = tsnbench("measure", path)
    assert done.returncode == 2
    words = f"{path}: expected a capture or a log, found "
    assert done.stderr.startswith(words)
    if content in UNKNOWN:
        assert recognise(path) is None
        assert uncoded(done.stderr) == f"{words}no format that tsnbench knows\n"


def test_import_says_what_is_no_csv(tmp_path: Path) -> None:
    path = tmp_path / "task.csv"
    path.write_bytes(CONTENTS["netlatency"])
    done = tsnbench("import", "tsnkit", path, path)
    assert done.returncode == 2
    assert uncoded(done.stderr).splitlines() == [
        f"{path}: expected a CSV file of tsnkit, found a log of netlatency's receiver",
        f"hint: tsnbench measure {path} prints its figures",
    ]


def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = tsnbench("measure", tmp_path / "fifo")
    assert done.returncode == 2
    assert uncoded(done.stderr).rstrip().endswith("expected a regular file, found a FIFO")
