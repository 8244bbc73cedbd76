"""The server of a database as another process of this machine sees it: does it run, and is it really that server?

What it keeps true:
- A server runs when it holds the lock of its database, or else when what listens at its address names its instance
  (gateway rules, process ids that are given out again). Looking changes no file.
- Nothing but health probes is sent to a server before it named the instance of the descriptor, and what follows goes
  over that very connection: a program that took over the port is never told what was meant for ours.
- The token is in no message and no exception.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from hivekeep import compact_json, paths
from hivekeep.doors import descriptor
from hivekeep.doors.descriptor import Descriptor
from hivekeep_contract.gateway import INSTANCE_HEADER
from hivekeep_contract.limits import CLIENT_CONNECT_TIMEOUT_MS, RUNTIME_FILE_MAX_BYTES
from hivekeep_contract.routes import ROUTES

_LIVE = ROUTES["health_live"].path
_READY = ROUTES["health_ready"].path
_LIVES = compact_json.encode({"ok": True})


class NoServer(Exception):
    """Nothing listens there, or it is another server than the one that is looked for. Nothing was asked of it."""


class NoAnswer(Exception):
    """The server was asked and did not answer whole and in time; what became of the request is not known."""


class AnswerTooLarge(Exception):
    """The answer has more bytes than are read."""


class Found(NamedTuple):
    """The descriptor of a database, None when there is none, and whether its server runs."""

    descriptor: Descriptor | None
    running: bool

    @property
    def stale(self) -> bool:
        """Whether the descriptor outlived its server."""
        return self.descriptor is not None and not self.running


class Reply(NamedTuple):
    """An answer as it came over the wire."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def look(files: paths.RuntimeFiles) -> Found:
    """What is known of the server of a database.

    Raises RuntimeRefused for a descriptor that is unsafe or malformed.
    """
    found = descriptor.read(files.descriptor)
    if found is None or found.database_fingerprint != files.fingerprint:
        return Found(None, running=False)
    return Found(found, running=runs(found, files))


def runs(found: Descriptor, files: paths.RuntimeFiles) -> bool:
    """Whether the server of a descriptor in the folder of `files` runs.

    Whoever holds the lock of the database runs. Without that, its process id may have been given to another process, or
    the file of the lock may have been deleted: then what listens at the address has to name the instance.
    """
    if not descriptor.is_alive(found.pid):
        return False
    lock = paths.lock_file(files.descriptor.parent, found.database_fingerprint.removeprefix("sha256:"))
    holder = descriptor.lock_holder(lock)
    if holder is not None and holder.instance_id is not None and found.is_of(holder.instance_id):
        return True
    try:
        with Connection(found):
            return True
    except (NoServer, NoAnswer, AnswerTooLarge):
        return False


class Connection:
    """One HTTP connection to the server of a descriptor, which proved to be that server.

    Raises NoServer when nothing listens there, or another server.
    """

    def __init__(self, found: Descriptor) -> None:
        self.authorization = {"Authorization": f"Bearer {found.capability_token}"}
        address = urlsplit(found.base_url)
        self._http = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=CLIENT_CONNECT_TIMEOUT_MS / 1000
        )
        try:
            self._prove(found)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection up."""
        self._http.close()

    def exchange(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str | bytes],
        body: bytes | None = None,
        *,
        timeout_ms: int | None = None,
        max_bytes: int = RUNTIME_FILE_MAX_BYTES,
    ) -> Reply:
        """One request and its whole answer. Raises NoAnswer and AnswerTooLarge; then nothing more can be asked."""
        # A time limit of a socket is one for each piece; whoever sends pieces for ever is cut off.
        end = threading.Timer((timeout_ms or CLIENT_CONNECT_TIMEOUT_MS) / 1000, self._cut)
        end.start()
        try:
            self._http.request(method, target, body=body, headers=dict(headers))
            response = self._http.getresponse()
            whole = response.read(max_bytes + 1)
        except (OSError, http.client.HTTPException):
            # The exception may hold what was sent; it goes no further.
            raise NoAnswer from None
        finally:
            end.cancel()
        if len(whole) > max_bytes:
            self.close()
            raise AnswerTooLarge
        if response.length:
            raise NoAnswer
        return Reply(response.status, response.headers, whole)

    def _prove(self, found: Descriptor) -> None:
        """Raise NoServer unless what listens there lives and names the instance; never connect a second time."""
        try:
            self._http.connect()
            self._http.auto_open = 0
            self._http.sock.settimeout(None)
            live = self.exchange("GET", _LIVE, {})
            if (live.status, live.body) != (200, _LIVES):
                raise NoServer
            ready = self.exchange("GET", _READY, self.authorization)
        except (OSError, NoAnswer, AnswerTooLarge):
            raise NoServer from None
        named = ready.headers.get_all(INSTANCE_HEADER) or []
        # A server on its way out says so with 503; it is ours all the same.
        if ready.status not in (200, 503) or len(named) != 1 or not found.is_of(named[0]):
            raise NoServer

    def _cut(self) -> None:
        """End the exchange that is under way."""
        with contextlib.suppress(OSError, AttributeError):
            self._http.sock.shutdown(socket.SHUT_RDWR)
