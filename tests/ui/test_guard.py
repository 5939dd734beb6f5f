"""Which requests are answered, on every path; and that no file outside of the folder is read or written."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from support.commands import limited, tsnbench
from ui.conftest import SCENARIO, Server, serving

PATHS = [
    "/",
    "/app.js",
    "/style.css",
    "/api/folder",
    "/api/scenario/two.yaml",
    "/api/report/x",
    "/api/replay/x",
    "/nothing",
]
WRITES = [("PUT", "/api/scenario/two.yaml"), ("POST", "/api/check/two.yaml"), ("POST", "/"), ("DELETE", "/x")]
OUTSIDE = [
    "../secret.yaml",
    "..%2fsecret.yaml",
    "deep/../../secret.yaml",
    "%2fetc%2fpasswd",
    "link.yaml",
    "away/secret.yaml",
    "notes.txt",
    "none.yaml",
    "two.yaml%00",
    "deep",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_answered(server: Server, path: str) -> None:
    assert server.ask("GET", path, known=False)[0] == 403
    assert server.ask("GET", f"{path}?token=wrong", known=False)[0] == 403
    assert server.ask("GET", path, known=False, cookie=f"tsnbench-{server.port}=wrong")[0] == 403


@pytest.mark.parametrize("path", PATHS)
def test_another_host_is_refused_even_with_the_token(server: Server, path: str) -> None:
    for host in ("evil", f"127.evil.example:{server.port}", f"127.0.0.1:{server.port}.evil", "127.0.0.1"):
        assert server.ask("GET", path, host=host)[0] == 421


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_another_origin_writes_nothing(server: Server, method: str, path: str) -> None:
    tag = server.ask("GET", "/api/scenario/two.yaml")[1]["etag"]
    for origin in ("http://evil.example", f"http://localhost:{server.port}", "null", ""):
        assert server.ask(method, path, b"x", origin=origin, if_match=tag)[0] == 403
    assert (server.folder / "two.yaml").read_text() == SCENARIO


def test_another_origin_reads_nothing(server: Server) -> None:
    assert server.ask("GET", "/api/folder", origin="http://evil.example")[0] == 403


@pytest.mark.parametrize("own", [False, True])
def test_a_websocket_is_closed(server: Server, own: bool) -> None:
    origin = f"http://127.0.0.1:{server.port}" if own else "http://evil.example"
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13"}
    key = "dGhlIHNhbXBsZSBub25jZQ=="
    status, _, _ = server.ask("GET", "/api/events", origin=origin, sec_websocket_key=key, **upgrade)
    assert status == (404 if own else 403)


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read(server: Server) -> None:
    status, headers, _ = server.ask("GET", server.address.split(str(server.port), 1)[1], known=False)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"tsnbench-{server.port}=")
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert server.ask("GET", "/", known=False, cookie=cookie.split(";")[0])[0] == 200


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_a_strict_policy(server: Server, path: str) -> None:
    for known in (True, False):
        _, headers, _ = server.ask("GET", path, known=known)
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_file_outside_is_read_or_written(server: Server, name: str) -> None:
    secret = server.folder.parent / "secret.yaml"
    assert server.ask("GET", f"/api/scenario/{name}")[0] == 404
    assert server.ask("PUT", f"/api/scenario/{name}", b"x: 1\n", if_match='"x"')[0] == 404
    assert server.ask("POST", f"/api/check/{name}", b"x: 1\n")[0] == 404
    assert server.ask("GET", f"/api/report/{name}")[0] == 404
    assert server.ask("GET", f"/api/replay/{name}")[0] == 404
    assert secret.read_text() == "secret: 1\n"
    assert not (server.folder / "none.yaml").exists()


def test_a_stale_tag_writes_nothing(server: Server) -> None:
    path = "/api/scenario/two.yaml"
    old = server.ask("GET", path)[1]["etag"]
    assert server.ask("PUT", path, b"x: 1\n")[0] == 428
    status, headers, _ = server.ask("PUT", path, b"first: 1\n", if_match=old)
    assert status == 204
    assert server.ask("PUT", path, b"second: 1\n", if_match=old)[0] == 412
    assert (server.folder / "two.yaml").read_bytes() == b"first: 1\n"
    assert server.ask("GET", path)[1]["etag"] == headers["etag"] != old
    assert sorted(one.name for one in server.folder.iterdir() if one.name.startswith(".")) == []


def test_a_disk_that_takes_no_more_is_named_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("name: two\n")
    # Files of this server have at most 64 octets.
    with serving(tmp_path, preexec_fn=limited(64)) as server:
        tag = server.ask("GET", "/api/scenario/two.yaml")[1]["etag"]
        long = SCENARIO.encode()
        status, _, words = server.ask("PUT", "/api/scenario/two.yaml", long, if_match=tag)
        assert (status, words) == (507, b"File too large\n")
        places = json.dumps({f"node{n}": [1, 2] for n in range(20)}).encode()
        status, _, words = server.ask("PUT", "/api/layout/two.yaml", places)
        assert (status, words) == (507, b"File too large\n")
        assert server.ask("PUT", "/api/scenario/two.yaml", b"name: short\n", if_match=tag)[0] == 204
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"two.yaml": "name: short\n"}


def test_only_the_loopback_interface_listens(server: Server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    with socket.socket() as other:
        other.settimeout(5)
        # Another address of this machine's loopback network, which a server on all interfaces would accept.
        with pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", server.port))


def test_problems_are_those_of_the_command_check(server: Server) -> None:
    wrong = SCENARIO.replace("500 us", "500").replace("to: two", "to: tow")
    _, _, content = server.ask("POST", "/api/check/two.yaml", wrong.encode())
    found = json.loads(content)
    (server.folder / "two.yaml").write_text(wrong)
    printed = json.loads(tsnbench("check", "--json", server.folder / "two.yaml").stdout)
    assert printed == {"format": "tsnbench-check/1", **found}
    assert [one["line"] for one in found["problems"]] == [9] * len(found["problems"])
    assert len(found["problems"]) >= 1


def test_lists_name_the_files_of_the_folder(server: Server) -> None:
    assert tsnbench("run", "two.yaml", "--into", "runs/a", cwd=server.folder).returncode == 0
    found = json.loads(server.ask("GET", "/api/folder")[2])
    assert found["scenarios"] == ["deep/more.yaml", "two.yaml"]
    (run,) = found["runs"]
    assert (run["folder"], run["state"], run["met"], run["report"]) == ("runs/a", "complete", None, True)
    status, headers, content = server.ask("GET", "/api/report/runs/a")
    assert (status, content) == (200, (server.folder / "runs/a/report.html").read_bytes())
    assert headers["content-security-policy"].startswith(
        "sandbox allow-scripts; default-src 'none'; script-src 'sha256-"
    )
    assert run["replay"]
    status, headers, content = server.ask("GET", "/api/replay/runs/a")
    assert status == 200
    assert b"why this frame waited" in content.lower()
    rules = headers["content-security-policy"]
    assert rules.startswith("sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'sha256-")
    assert "same-origin" not in rules
    # Markdown with a link to an instant is a lesson, and can stand beside the replay.
    (server.folder / "deep/first.md").write_text("# Begin\n\n[the frame leaves](#t=0.5ms) <b>raw</b>\n")
    (server.folder / "notes.md").write_text("no lesson\n")
    assert json.loads(server.ask("GET", "/api/facts/runs/a")[2])["lessons"] == ["deep/first.md"]
    status, headers, content = server.ask("GET", "/api/replay/runs/a?lesson=deep/first.md")
    assert (status, headers["content-security-policy"]) == (200, rules)
    assert b'<a href="#t" data-ns="500000">the frame leaves</a> &lt;b&gt;raw' in content
    for other in ("../secret.yaml", "two.yaml", "deep/none.md", "link.yaml"):
        assert server.ask("GET", f"/api/replay/runs/a?lesson={other}")[0] == 404
    for name in ("deep/first.md", "notes.md"):
        (server.folder / name).unlink()
    # The replay of an incomplete run is an error with a reason, and the server continues.
    (server.folder / "runs/a/plan.json").write_text("{}")
    status, _, content = server.ask("GET", "/api/replay/runs/a")
    assert (status, b"plan.json" in content) == (422, True)
