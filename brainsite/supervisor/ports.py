"""Ports on the loopback address."""

import errno
import random
import socket
from collections.abc import Iterable
from pathlib import Path

from brainsite.supervisor.errors import StartError
from brainsite.supervisor.folders import write_private

# Below what systems hand out for outgoing connections: a client that keeps knocking on a closed port from that range
# can end up connected to itself and so keep the port busy.
SERVER_PORTS = range(20_000, 32_000)


def is_free(port: int) -> bool:
    held = listen("127.0.0.1", [port])
    if held:
        held.close()
    return held is not None


def listen(host: str, ports: Iterable[int]) -> socket.socket | None:
    """A listening socket on the first of the ports that nobody uses."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in ports:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(2048)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            return listener
    return None


def remembered_port(file: Path) -> int:
    """The port in `file` while it is free, so that addresses stay; else a new one, which is then remembered."""
    try:
        port = int(file.read_text())
        if port in SERVER_PORTS and is_free(port):
            return port
    except (FileNotFoundError, ValueError):
        pass
    chosen = next((port for port in random.sample(SERVER_PORTS, 200) if is_free(port)), None)
    if chosen is None:
        raise StartError("There is no free port on 127.0.0.1.")
    write_private(file, f"{chosen}\n")
    return chosen
