"""The service over TLS: certificates of the server and of clients, which say who asks."""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from time import time
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")
pytest.importorskip("cryptography", reason="needs cryptography (pip install 'tsnbench[netconf]')")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cnc.cell import BOUNDED, SCENARIO, serving
from support.commands import tsnbench
from tsnbench.cnc.client import AnswerError, Connection
from tsnbench.cnc.server.certificates import Certificate
from tsnbench.cnc.server.clients import read_clients
from tsnbench.errors import InputError
from tsnbench.ui.requests.exchange import RefusedError

HOUR = datetime.timedelta(hours=1)
CLIENTS = """
[camera]
certificate = "cam.plant"
scope = "own"
most-streams = 1
[drive]
certificate = "urn:plant:drive"
token = "the secret of the drive"
scope = "own"
[engineer]
token = "what an engineer knows"
scope = "all"
"""


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in files."""

    certificate: Path
    key: Path
    made: x509.Certificate
    secret: ec.EllipticCurvePrivateKey


def pair(
    folder: Path,
    name: str,
    authority: Pair | None = None,
    others: Sequence[x509.GeneralName] = (),
    until: datetime.timedelta = HOUR,
) -> Pair:
    """A certificate with this common name, of an authority or of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(
            authority.made.subject if authority else own, own, key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(now - 2 * HOUR)
        .not_valid_after(now + until)
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
    )
    if others:
        made = made.add_extension(x509.SubjectAlternativeName(others), critical=False)
    signed = made.sign(authority.secret if authority else key, hashes.SHA256())
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return Pair(*files, signed, key)


def server_of(folder: Path) -> tuple[Pair, list[object]]:
    """The certificate of the server, and the options with it."""
    made = pair(folder, "server", others=[x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    return made, ["--tls-certificate", made.certificate, "--tls-key", made.key]


def ask(
    port: int, server: Pair, client: Pair, method: str, path: str, document: Any = None, **headers: str
) -> tuple[int, Any]:
    """The status and the document of an answer to a client with a certificate."""
    context = ssl.create_default_context(cafile=server.certificate)
    context.load_cert_chain(client.certificate, client.key)
    line = HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
    try:
        line.request(method, path, json.dumps(document), {"content-type": "application/json", **headers})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        line.close()


def test_a_certificate_says_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, words = server_of(tmp_path)
    plant = pair(tmp_path, "plant")
    camera = pair(tmp_path, "cam.plant", plant)
    drive = pair(tmp_path, "any", plant, [x509.UniformResourceIdentifier("urn:plant:drive")])
    stranger = pair(tmp_path, "cam3", plant, [x509.DNSName("<img src=x>")])
    both = pair(tmp_path, "both", plant, [x509.DNSName("cam.plant"), x509.DNSName("urn:plant:drive")])
    late = pair(tmp_path, "late", plant, [x509.DNSName("cam.plant")], -HOUR)
    foreign = pair(tmp_path, "foreign", pair(tmp_path, "elsewhere"), [x509.DNSName("cam.plant")])
    (tmp_path / "tokens.toml").write_text(CLIENTS)
    words += ["--tls-clients", plant.certificate, "--tokens", tmp_path / "tokens.toml"]
    with serving(tmp_path, *words) as served:
        assert served.address.startswith("https://127.0.0.1:")
        # The server's certificate is unknown; then it is known, and the client's own one is missing, too old,
        # or of another authority. TLS refuses these.
        for authority in (None, server.certificate):
            with pytest.raises(AnswerError):
                Connection(served.address, authority=authority).ask("GET", "/api/network")
        for wrong in (late, foreign):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                ask(served.port, server, wrong, "GET", "/api/network")

        def status(client: Pair, method: str, path: str, document: Any = None, **headers: str) -> int:
            return ask(served.port, server, client, method, path, document, **headers)[0]

        # Names, scopes and numbers of streams are those of clients with tokens.
        assert status(camera, "PUT", "/api/streams/x", BOUNDED) == 201
        assert status(camera, "PUT", "/api/streams/y", BOUNDED) == 409, "it has as many as it may have"
        assert status(camera, "GET", "/api/denied") == 403
        assert status(drive, "DELETE", "/api/streams/x") == 403
        assert status(drive, "PUT", "/api/streams/y", BOUNDED) == 201
        # A token beside a certificate that names nobody, or the same client; never another one.
        engineer, own = "Bearer what an engineer knows", "Bearer the secret of the drive"
        assert status(stranger, "DELETE", "/api/streams/x", authorization=engineer) == 200
        assert status(drive, "GET", "/api/network", authorization=own) == 200
        for client in (drive, camera):
            code, told = ask(served.port, server, client, "GET", "/api/denied", authorization=engineer)
            assert (code, told["detail"]) == (403, "The token is that of another client than the certificate")
        assert status(drive, "GET", "/api/network", authorization="Bearer of bad news to come") == 401
        code, told = ask(served.port, server, stranger, "GET", "/api/network")
        words_of = 'No client has certificate = "<img src=x>" or "cam3" in the file of --tokens'
        assert (code, told["detail"]) == (403, words_of)
        code, told = ask(served.port, server, both, "GET", "/api/network")
        assert (code, told["detail"]) == (403, "The certificate has names of several clients: camera, drive")
        # The commands have one, too; logs have the names.
        monkeypatch.setenv("TSNBENCH_CNC", served.address)
        monkeypatch.setenv("TSNBENCH_CNC_CERTIFICATE", str(camera.certificate))
        monkeypatch.setenv("TSNBENCH_CNC_KEY", str(camera.key))
        done = tsnbench("cnc", "explain", "--ca", server.certificate)
        assert done.returncode == 0, done.stderr
        assert [line.split("  ")[2:] for line in done.stdout.splitlines() if line[0].isdigit()] == [
            ["engineer", "-x: accepted"],
            ["drive", "+y: accepted"],
            ["drive", "-x: not accepted"],
            ["camera", "+y: not accepted"],
            ["camera", "+x: accepted"],
        ]
        monkeypatch.setenv("TSNBENCH_CNC_CERTIFICATE", str(plant.certificate))
        done = tsnbench("cnc", "list", "--ca", server.certificate)
        assert done.returncode == 2
        assert "plant.pem: expected a certificate and its key (PEM), found" in done.stderr
        denied = ask(served.port, server, stranger, "GET", "/api/denied", authorization=engineer)[1]["denied"]
        told = [(one["client"], one["why"]) for one in denied]
        assert ("camera", "The scope of camera is own") in told
        assert ("drive", "The token is that of another client than the certificate") in told
        assert ("certificate <img src=x>", words_of) in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[x]\ncertificate = ""\nscope = "own"', "expected a name in certificate, found"),
        ('[x]\ncertificate = 7\nscope = "own"', "expected a name in certificate, found 7"),
        ('[x]\ncertificate = "a"', "expected a client with token or certificate, and scope"),
        ('[x]\ncertificate = "a"\nscope = "own"\n[y]\ncertificate = "a"\nscope = "own"', "a certificate of"),
    ],
)
def test_files_with_mistakes_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "tokens.toml").write_text(text)
    with pytest.raises(InputError, match=why):
        read_clients(tmp_path / "tokens.toml")


def test_a_certificate_that_expires_ends_its_connection_too(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(CLIENTS)
    clients = read_clients(tmp_path / "tokens.toml")
    names = frozenset({"cam.plant"})
    assert clients.of("", Certificate(names, time() + 60)).name == "camera"
    for header in ("", "Bearer what an engineer knows"):
        with pytest.raises(RefusedError, match="The certificate has expired"):
            clients.of(header, Certificate(names, time() - 1))


def test_names_of_certificates_need_their_authority(tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text(SCENARIO)
    (tmp_path / "tokens.toml").write_text(CLIENTS)
    _, words = server_of(tmp_path)
    command = "cnc", tmp_path / "cell.yaml", "--tokens", tmp_path / "tokens.toml", *words
    done = tsnbench(*command)
    assert done.returncode == 2
    assert "--tls-clients: expected the authority of the certificates in" in done.stderr
    done = tsnbench(*command, "--tls-clients", tmp_path / "server.key")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--tls-clients: expected certificates (PEM), found" in done.stderr
    done = tsnbench(*command, "--tls-clients", words[1], "--tls-key", tmp_path / "none.key")
    assert "--tls-certificate: expected a certificate and its key (PEM), found No such file" in done.stderr
