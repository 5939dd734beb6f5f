"""A NETCONF server at a socket of this machine: a test writes its replies, and gets all requests."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ncclient import manager

from tsnbench.deploy.device import CAPABILITY, Device, limit_replies
from tsnbench.yang import xml

END = b"]]>]]>"
HEAD = f'<rpc-reply xmlns="{xml.BASE}" message-id="%s">'
OK = "<ok/>"


class SocketServer:
    """Serves one session; ``answer`` gets a request, and returns what is inside of the reply."""

    def __init__(self, answer: Callable[[str], str], capabilities: tuple[str, ...]) -> None:
        self.answer = answer
        self.requests: list[bytes] = []
        own = [f"{CAPABILITY}{name}" for name in ("candidate:1.0", "confirmed-commit:1.1", *capabilities)]
        own += [xml.BASE, *(f"{space}?module=m" for space in (xml.INTERFACES, xml.BRIDGE))]
        listed = "".join(f"<capability>{one.replace('&', '&amp;')}</capability>" for one in own)
        self._hello = f'<hello xmlns="{xml.BASE}"><capabilities>{listed}</capabilities></hello>'

    def serve(self, listening: socket.socket) -> None:
        link, _ = listening.accept()
        with link:
            link.sendall(self._hello.encode() + END)
            waiting = b""
            while data := link.recv(1 << 16):
                waiting += data
                while END in waiting:
                    request, _, waiting = waiting.partition(END)
                    if number := re.search(rb'message-id="([^"]*)"', request):
                        self.requests.append(request)
                        told = self.answer(request.decode())
                        try:
                            link.sendall((HEAD % number[1].decode() + told + "</rpc-reply>").encode() + END)
                        except OSError:
                            return


@contextmanager
def device_at(
    folder: Path, answer: Callable[[str], str], *capabilities: str, timeout_s: float = 30
) -> Iterator[tuple[Device, SocketServer]]:
    """A device with a session to such a server."""
    path = str(folder / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(1)
        server = SocketServer(answer, capabilities)
        thread = threading.Thread(target=server.serve, args=(listening,), daemon=True)
        thread.start()
        session = manager.connect_uds(path=path, timeout=20)
        limit_replies(session._session)
        session.timeout = timeout_s
        session.raise_mode = manager.operations.RaiseMode.ERRORS
        device = Device("a", "here", 830, session)
        try:
            yield device, server
        finally:
            device.close()
            session._session.close()
    thread.join(timeout=20)
