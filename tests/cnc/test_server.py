"""The service over HTTP: answers, hostile requests, tokens; nothing of a client is unescaped."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

from cnc.cell import BOUNDED, GREEDY, SCENARIO, SCHEDULED, TIGHT, Served, base_of, serving
from support.commands import tsnbench
from tsnbench.cli.console.listening import address_of
from tsnbench.cnc.changing.writer import BusyError
from tsnbench.cnc.server.asking import answered
from tsnbench.cnc.server.clients import MOST_A_SECOND, Clients, read_clients
from tsnbench.cnc.server.server import application
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store
from tsnbench.errors import InputError

TOKENS = """
[camera]
token = "the camera's own token"
scope = "own"
most-streams = 1
[drive]
token = "another token, of the drive"
scope = "own"
[viewer]
token = "may look and not touch"
scope = "read"
[engineer]
token = "may remove what others left"
scope = "all"
"""
CAMERA, DRIVE, VIEWER, ENGINEER = (
    f"Bearer {token}"
    for token in (
        "the camera's own token",
        "another token, of the drive",
        "may look and not touch",
        "may remove what others left",
    )
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("cnc")) as found:
        yield found


@pytest.fixture
def empty(served: Served) -> Served:
    """The service without requested streams."""
    names = {one["stream"] for one in served.ask("GET", "/api/streams")[1]["streams"] if one["client"]}
    assert served.ask("POST", "/api/changes", {"remove": sorted(names)})[0] == 200
    return served


def test_a_stream_joins_is_listed_and_leaves(empty: Served) -> None:
    status, told, headers = empty.ask("PUT", "/api/streams/x", SCHEDULED)
    assert status == 201
    (flow,) = told["streams"]
    (listener,) = flow["listeners"]
    # Four links of 100 Mbit/s, each for 1058 B with preamble and gap but the last gap.
    assert listener["release_upper_ns"] == 338_560
    assert 0 <= flow["offset_ns"] < 1_000_000
    assert headers["etag"] == f'"{told["plan"]}"'
    status, again, _ = empty.ask("PUT", "/api/streams/x", SCHEDULED)
    assert (status, again["plan"]) == (200, told["plan"])
    assert empty.ask("GET", "/api/streams/x")[1]["requested"] == SCHEDULED
    plan = empty.ask("GET", "/api/plan")[1]
    assert plan["hash"] == told["plan"]
    files = empty.ask("GET", "/api/files")[1]["files"]
    assert "sw1/yang.xml" in files
    assert "<gate-states-value>128<" in empty.ask("GET", "/api/files/sw1/yang.xml")[1]
    links = {one["port"]: one for one in empty.ask("GET", "/api/network")[1]["links"]}
    # Of 1,000 frames a second each: x has 1058 + 12 B, log 158 + 12 B on their common link.
    assert links["cam2 -> sw1"]["load_bps"] == 8 * (1058 + 12 + 158 + 12) * 1000
    assert empty.ask("DELETE", "/api/streams/x")[0] == 200
    assert empty.ask("GET", "/api/streams/x")[0] == 404
    assert empty.ask("DELETE", "/api/streams/x")[0] == 404


def test_a_refusal_has_reasons_and_what_would_work(empty: Served) -> None:
    status, told, headers = empty.ask("PUT", "/api/streams/tight", TIGHT)
    assert (status, headers["content-type"]) == (409, "application/problem+json")
    (reason,) = told["decision"]["reasons"]
    assert "338.56 us" in told["detail"]
    assert "there is a schedule with streams.tight.requires.delay: 338560 ns" in reason["hint"]
    decisions = empty.ask("GET", "/api/decisions?stream=tight")[1]["decisions"]
    assert decisions[0]["reasons"] == [reason]


def test_a_client_that_knows_another_plan_is_told(empty: Served) -> None:
    _, told, headers = empty.ask("PUT", "/api/streams/x", SCHEDULED)
    assert empty.ask("PUT", "/api/streams/y", BOUNDED, if_match='"0123"')[0] == 412
    assert empty.ask("PUT", "/api/streams/y", BOUNDED, if_match=headers["etag"])[0] == 201
    assert empty.ask("DELETE", "/api/streams/y", if_match=headers["etag"])[0] == 412
    assert told["plan"] in headers["etag"]


ONE = '[x]\ntoken = "long enough for one"\nscope = "own"\n'
HOSTILE: list[tuple[bytes, int]] = [
    (b"", 400),
    (b"[]", 400),
    (b"{", 400),
    (b'{"add": 1}', 400),
    (b'{"add": {}, "add": {}}', 400),
    (b'{"add": {"x": NaN}}', 400),
    (b'{"add": {"x": {"from": 1e400}}}', 400),
    (b'{"add": {"x": {"from": -1.5e999999}}}', 400),
    (b'{"other": 1}', 400),
    (b'{"remove": [1]}', 400),
    (b'{"remove": "x"}', 400),
    (b"[" * 100_000, 400),
    (b'{"add": ' + b'{"a": ' * 5_000 + b"1" + b"}" * 5_001, 400),
    (b'{"add": {"x": {"pcp": ' + b"9" * 5_000 + b"}}}", 400),
    (b'{"add": {"\\ud800": {}}}', 400),
    (b'{"add": {"x": {"from": "\\ud800"}}}', 400),
    (b"\xff\xfe{}", 400),
    (b'{"add": {"x": "' + b"a" * (1 << 20) + b'"}}', 413),
    (json.dumps({"add": {"x": {**BOUNDED, "to": [f"n{n}" for n in range(50_000)]}}}).encode(), 400),
    (json.dumps({"add": {"<script>": dict(BOUNDED)}}).encode(), 400),
    (json.dumps({"add": {"evil": {**BOUNDED, "from": "$(reboot)"}}}).encode(), 400),
    (json.dumps({"add": {f"s{n}": dict(BOUNDED) for n in range(1_000)}}).encode(), 400),
    (json.dumps({"add": {"w": {**BOUNDED, "via": [[]]}}}).encode(), 400),
    (json.dumps({"add": {"w": {**BOUNDED, "frer": {"paths": [[[]]]}}}}).encode(), 400),
]


@pytest.mark.parametrize(("content", "status"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_bodies_change_nothing(served: Served, content: bytes, status: int) -> None:
    before = served.ask("GET", "/api/network")[1]
    found, told, _ = served.ask("POST", "/api/changes", body=content)
    assert found == status, told
    assert len(json.dumps(told)) < 20_000 or "decision" in told
    assert served.ask("GET", "/api/network")[1] == before
    # What was refused is in the log, and can be read there.
    assert served.ask("GET", "/api/decisions")[0] == 200


def test_pages_of_others_and_other_names_are_not_answered(served: Served) -> None:
    change = b'{"remove": []}'
    assert served.ask("POST", "/api/changes", body=change, origin="http://evil.example")[0] == 403
    assert served.ask("GET", "/api/network", host="evil.example")[0] == 421
    # A form or a script of another page can send this type without asking first.
    assert served.ask("POST", "/api/changes", body=change, content_type="text/plain")[0] == 415
    assert served.ask("GET", "/api/nothing")[1]["status"] == 404
    status, told, headers = served.ask("POST", "/api/streams", body=change)
    assert (status, told["status"], {*headers["allow"].split(", ")}) == (405, 405, {"GET", "HEAD"})
    assert served.ask("GET", "/api/files/../../../etc/passwd")[0] == 404


def test_many_clients_at_once_lose_no_answer_and_add_no_stream_twice(empty: Served) -> None:
    small = {**BOUNDED, "payload": "50 B", "requires": {}, "period": "10 ms"}

    def ask(number: int) -> int:
        # Each name is requested twice, as by a client that asks again.
        while True:
            status, _, headers = empty.ask("PUT", f"/api/streams/s{number // 2}", small)
            if status != 429:
                return status
            time.sleep(float(headers["retry-after"]))

    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(ask, range(100)))
    assert sorted(found) == [200] * 50 + [201] * 50 or set(found) <= {200, 201}
    names = [one["stream"] for one in empty.ask("GET", "/api/streams")[1]["streams"] if one["client"]]
    assert sorted(names) == sorted(f"s{number}" for number in range(50))


async def asgi(asked: Any, method: str, path: str, body: bytes = b"", **headers: str) -> int:
    """The status of the answer to a request in this process."""
    sent: list[Any] = []
    named = {"content-type": "application/json", **headers}
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "query_string": b"", "scheme": "http", "root_path": "", "http_version": "1.1",
        "client": ("192.0.2.7", 1234),
    }  # fmt: skip
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        # The client stays: it is never told to have gone.
        return parts.pop() if parts else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await asked(scope, receive, send)
    return int(sent[0]["status"])


def test_the_page_is_there_while_all_changes_wait(tmp_path: Path) -> None:
    """Devices may take seconds for one change, and no thread waits for that."""
    service = Service(base_of(tmp_path))
    asked = application(service, Clients(), None)
    goes_on = threading.Event()

    async def ask(method: str, path: str, body: bytes = b"") -> int:
        return await asgi(asked, method, path, body)

    async def main() -> tuple[int, list[int]]:
        service.soon(goes_on.wait)
        body = json.dumps(BOUNDED).encode()
        changes = [asyncio.create_task(ask("PUT", "/api/streams/one", body)) for _ in range(90)]
        await asyncio.sleep(0.2)
        page = await asyncio.wait_for(ask("GET", "/cnc.css"), 10)
        goes_on.set()
        return page, await asyncio.gather(*changes)

    try:
        # Without a loop of its own in this thread: those of browsers run here.
        with ThreadPoolExecutor(1) as pool:
            page, changes = pool.submit(lambda: asyncio.run(main())).result(60)
    finally:
        goes_on.set()
        service.close()
    assert page == 200
    assert set(changes) <= {200, 201}


def test_a_busy_service_says_when_to_ask_again() -> None:
    async def busy(_: Any) -> Any:
        raise BusyError("128 changes wait already")

    # Without a loop of its own: those of browsers run in this process.
    with pytest.raises(StopIteration) as done:
        answered(busy)(None).__await__().send(None)  # type: ignore[arg-type, attr-defined]
    answer = done.value.value
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_commands_ask_the_service(empty: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TSNBENCH_CNC", empty.address)
    file = tmp_path / "streams.yaml"
    file.write_text("x: {from: cam2, to: ctl, pcp: 3, period: 1 ms, payload: 100 B}\n")
    added = tsnbench("cnc", "add", file)
    assert (added.returncode, added.stderr) == (0, "")
    assert "+x: accepted" in added.stdout
    file.write_text("x: {from: cam2, to: ctl, pcp: 3, period: 2 ms, payload: 100 B}\n")
    assert tsnbench("cnc", "add", file).returncode == 2
    assert tsnbench("cnc", "add", file, "--replace").returncode == 0
    listed = tsnbench("cnc", "list")
    assert "x" in listed.stdout.split()
    late = tmp_path / "late.json"
    late.write_text(json.dumps({"late": dict(GREEDY)}))
    refused = tsnbench("cnc", "add", late)
    assert refused.returncode == 1
    assert "expected that log keeps its delay" in refused.stdout
    told = json.loads(tsnbench("cnc", "explain", "late", "--json").stdout)
    assert told["decisions"][0]["outcome"] == "refused"
    assert tsnbench("cnc", "remove", "x").returncode == 0
    assert tsnbench("cnc", "remove", "x").returncode == 2
    monkeypatch.setenv("TSNBENCH_CNC", "http://127.0.0.1:1")
    gone = tsnbench("cnc", "list")
    assert (gone.returncode, "no answer" in gone.stderr) == (3, True)
    assert "hint: `tsnbench cnc serve SCENARIO` starts one" in gone.stderr


def test_who_was_away_gets_the_events_since_then(empty: Served) -> None:
    def events(last: str, most: int) -> list[int]:
        with socket.create_connection(("127.0.0.1", empty.port), timeout=20) as line:
            head = f"GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:{empty.port}\r\n{last}\r\n"
            line.sendall(head.encode())
            reader, found = line.makefile("r"), []
            while not reader.readline().startswith(": decisions"):
                pass
            empty.ask("DELETE", "/api/streams/nobody")
            while len(found) < most:
                if (text := reader.readline()).startswith("id: "):
                    found.append(int(text.removeprefix("id: ")))
            return found

    (number,) = events("", 1)
    assert events(f"last-event-id: {number - 1}\r\n", 2) == [number, number + 1]
    assert events("last-event-id: none\r\n", 1) == [number + 2]
    assert events(f"last-event-id: {10**18 - 1}\r\n", 1) == [number + 3]


def test_tokens_say_who_asks_and_what_they_may_do(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    with serving(tmp_path, "--tokens", tmp_path / "tokens.toml") as served:
        assert served.ask("GET", "/api/network")[0] == 401
        assert served.ask("GET", "/api/network", authorization="Bearer of bad news")[0] == 401
        assert served.ask("GET", "/api/network", authorization=VIEWER)[0] == 200
        assert served.ask("PUT", "/api/streams/x", BOUNDED, authorization=VIEWER)[0] == 403
        assert served.ask("PUT", "/api/streams/x", BOUNDED, authorization=CAMERA)[0] == 201
        # The camera has as many as it may have; the same words again, or others for it, are not more.
        status, told, _ = served.ask("PUT", "/api/streams/y", BOUNDED, authorization=CAMERA)
        assert (status, told["detail"]) == (409, "streams: expected at most 1 streams of camera, found more")
        assert served.ask("PUT", "/api/streams/x", BOUNDED, authorization=CAMERA)[0] == 200
        assert served.ask("PUT", "/api/streams/y", BOUNDED, authorization=DRIVE)[0] == 201
        assert served.ask("POST", "/api/devices", {"overwrite": True}, authorization=ENGINEER)[0] == 403
        assert served.ask("GET", "/api/devices", authorization=CAMERA)[0] == 403
        assert served.ask("GET", "/api/devices", authorization=ENGINEER)[0] == 404, "it has none"
        assert served.ask("DELETE", "/api/streams/x", authorization=DRIVE)[0] == 403
        assert served.ask("PUT", "/api/streams/x", SCHEDULED, authorization=DRIVE)[0] == 403
        assert served.ask("DELETE", "/api/streams/x", authorization=ENGINEER)[0] == 200
        log = served.ask("GET", "/api/decisions", authorization=VIEWER)[1]["decisions"]
        assert [(one["client"], one["outcome"]) for one in log] == [
            ("engineer", "accepted"),
            ("drive", "foreign"),
            ("drive", "foreign"),
            ("drive", "accepted"),
            ("camera", "accepted"),
            ("camera", "refused"),
            ("camera", "accepted"),
        ]
        assert "token" not in json.dumps(log)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "found none"),
        ("x = 1", "other keys"),
        ('[x]\ntoken = "short"\nscope = "own"', "at least 16 characters"),
        ('[x]\ntoken = "long enough for one"\nscope = "root"', "a scope of read, own, all, devices"),
        (ONE + "most-streams = -1", "a number of streams in most-streams, found -1"),
        (ONE + "most-streams = true", "a number of streams"),
        (ONE + ONE.replace("x", "y"), "twice"),
        ("[", "expected TOML"),
    ],
)
def test_files_of_tokens_with_mistakes_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "tokens.toml").write_text(text)
    with pytest.raises(InputError, match=why):
        read_clients(tmp_path / "tokens.toml")


def test_a_client_may_ask_only_so_often(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    camera = read_clients(tmp_path / "tokens.toml").of(CAMERA)
    assert camera is not None
    assert [camera.may_ask() for _ in range(MOST_A_SECOND + 1)] == [True] * MOST_A_SECOND + [False]


@pytest.mark.parametrize("text", ["1.2.3.4", "example.org:80", ":99999", "[::1]", "1.2.3.4:x", ""])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--listen: expected ADDRESS:PORT"):
        address_of(text, "127.0.0.1:8443")


def test_other_machines_are_answered_only_with_tokens_and_tls(tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text(SCENARIO)
    words: list[Any] = [sys.executable, "-m", "tsnbench", "cnc", tmp_path / "cell.yaml"]
    words += ["--listen", "0.0.0.0:0"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2
    assert "expected an address of this machine alone, found 0.0.0.0" in found.stderr


def test_requests_without_a_decision_are_in_a_log_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    clients = read_clients(tmp_path / "tokens.toml")
    service = Service(base := base_of(tmp_path), Store(tmp_path / "store", base.digest))
    asked = application(service, clients, None)

    async def main() -> list[int]:
        put = "PUT", "/api/streams/x", b"{}"
        found = [await asgi(asked, *put, authorization=word) for word in ("", "Bearer of bad news", VIEWER)]
        camera = clients.of(CAMERA)
        assert camera is not None
        while camera.may_ask():
            pass
        found += [await asgi(asked, *put, authorization=CAMERA)]
        found += [await asgi(asked, "GET", "/api/denied", authorization=who) for who in (VIEWER, ENGINEER)]
        return [*found, await asgi(asked, *put, authorization=DRIVE, origin="http://evil.example")]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(main())).result(60) == [401, 401, 403, 429, 403, 200, 403]
    service.close()
    assert not service.decisions
    again = Store(tmp_path / "store", base.digest)
    found = [(row.client, row.address, row.status, row.asked, row.count) for row in again.denied(10)]
    again.close()
    put = "PUT /api/streams/x"
    # At the end of a minute a row may be two.
    assert {row[:4] for row in found} == {
        ("", "192.0.2.7", 401, put),
        ("viewer", "192.0.2.7", 403, put),
        ("camera", "192.0.2.7", 429, put),
        ("drive", "192.0.2.7", 403, put),
    } | {row[:4] for row in found if row[3] == "GET /api/denied"}
    assert sum(row[4] for row in found) == 6


def test_denied_requests_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    with serving(tmp_path, "--tokens", tmp_path / "tokens.toml") as served:
        assert served.ask("DELETE", "/api/streams/a%1b%5b2J%0ab", authorization=VIEWER)[0] == 403
        assert served.ask("GET", "/api/plan")[0] == 401
        monkeypatch.setenv("TSNBENCH_CNC", served.address)
        monkeypatch.setenv("TSNBENCH_CNC_TOKEN", ENGINEER.partition(" ")[2])
        told = tsnbench("cnc", "explain", "--denied")
        first, second = told.stdout.splitlines()
        assert first.endswith("127.0.0.1: GET /api/plan: 401 A token is missing, or nobody has it")
        assert "viewer at 127.0.0.1: DELETE /api/streams/a\ufffd[2J\ufffdb: 403 The scope of viewer" in second
        assert tsnbench("cnc", "explain", "x", "--denied").returncode == 2
        monkeypatch.setenv("TSNBENCH_CNC_TOKEN", CAMERA.partition(" ")[2])
        assert "The scope of camera is own" in tsnbench("cnc", "explain", "--denied").stderr


@pytest.mark.parametrize(
    "option", ["--node=sw1=127.0.0.1:1", "--devices=lab.yaml", "--interface=sw1 -> sw2=a"]
)
def test_no_deploy_is_refused_beside_devices(tmp_path: Path, option: str) -> None:
    (tmp_path / "cell.yaml").write_text(SCENARIO)
    found = tsnbench("cnc", tmp_path / "cell.yaml", "--no-deploy", option)
    assert found.returncode == 2
    assert f"--no-deploy: expected no devices, found {option.partition('=')[0]}" in found.stderr


def test_no_deploy_serves_the_files_for_devices(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-deploy") as served:
        assert served.process.stderr is not None
        assert "nothing is deployed: the files for devices" in served.process.stderr.readline()
        assert served.ask("GET", "/api/files")[1]["files"]
        assert served.ask("GET", "/api/devices")[0] == 404
