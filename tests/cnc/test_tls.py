"""The service over TLS: its certificate is checked, and clients can need one of their own."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from http.client import HTTPSConnection
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")
pytest.importorskip("cryptography", reason="needs cryptography (pip install 'tsnbench[netconf]')")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cnc.cell import serving
from tsnbench.cnc.client import AnswerError, Connection


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(own, own, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return files


def test_certificates_of_server_and_client(tmp_path: Path) -> None:
    server, server_key = certificate(tmp_path, "server")
    client, client_key = certificate(tmp_path, "client")
    words = ("--tls-certificate", server, "--tls-key", server_key, "--tls-clients", client)
    with serving(tmp_path, *words) as served:
        assert served.address.startswith("https://127.0.0.1:")
        # The server's certificate is unknown; then it is known, and the client's own one is missing.
        for authority in (None, server):
            with pytest.raises(AnswerError):
                Connection(served.address, authority=authority).ask("GET", "/api/network")
        context = ssl.create_default_context(cafile=server)
        context.load_cert_chain(client, client_key)
        line = HTTPSConnection("127.0.0.1", served.port, context=context, timeout=20)
        line.request("GET", "/api/network")
        assert line.getresponse().status == 200
        line.close()
