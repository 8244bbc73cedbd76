"""`hivekeep serve`: gunicorn's master with exactly one worker, which owns the store of one database.

What it keeps true:
- The order of starting is descriptor looked at, lock, store (created and migrated, then closed), listen, descriptor
  looked at again, fork, store again in the worker, descriptor written, ready; the order of stopping is the reverse:
  nothing new is accepted, what was accepted is answered, the store is closed, the descriptor and then the lock are
  gone. No database handle crosses the fork.
- The descriptor's pid is the master's: it lives as long as the service, whatever happens to a worker. The
  descriptor is written by the worker, when it can serve, with the port that the socket really has.
- A worker whose master is gone stops by itself (`parent_watch`), and gunicorn's signals for more workers or
  another master are off: upload ids, waits and queues live in the memory of the one worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import uuid
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from uvicorn_worker import UvicornWorker

from hivekeep import paths
from hivekeep.agent.canonical import ts
from hivekeep.doors import auth, descriptor, gateway, logs, parent_watch, peer
from hivekeep.doors.descriptor import AlreadyRunning, Descriptor, InstanceLock
from hivekeep.doors.private import RuntimeRefused
from hivekeep.doors.protocol import Protocol
from hivekeep.times import now_us
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivekeep.jobs.embedding import EmbeddingJob
    from hivekeep.jobs.schedule import ScheduleJob
    from hivekeep_contract.settings import Settings

KEEP_ALIVE_S = 75
GRACE_S = 20
BACKLOG = 512


def run(settings: Settings, *, operation: str, as_json: bool) -> None:
    """Serve until SIGTERM or SIGINT; leaves through SystemExit with gunicorn's status, 0 for a clean stop.

    Raises RuntimeRefused when another server has the database or a runtime file is unsafe, and the errors of
    opening the store. When ready it prints one line: the URL, or with `as_json` the envelope of `operation`.
    """
    logs.configure(settings.log_level)
    files = paths.runtime_files(settings)
    instance_id = str(uuid.uuid4())
    _refuse_another(files)
    lock = InstanceLock.acquire(files.lock, instance_id)
    master = os.getpid()
    try:
        _check_port(settings.serve_host, settings.serve_port)
        _prepare_store(settings)
        _Application(settings, files, instance_id, operation if as_json else None).run()
    finally:
        # A worker leaves through here too; lock and descriptor are the master's.
        if os.getpid() == master:
            descriptor.remove(files.descriptor, instance_id)
            lock.release()


def _refuse_another(files: paths.RuntimeFiles) -> None:
    """Raise AlreadyRunning when the descriptor that would be overwritten is that of a running server.

    One that outlived its server is overwritten. A server of another database is found there only when two databases are
    both somebody's default one and share a runtime folder; it must stay reachable.
    """
    found = descriptor.read(files.descriptor)
    if found is None or not peer.runs(found, files):
        return
    if found.database_fingerprint == files.fingerprint:
        raise AlreadyRunning(descriptor.RUNNING)
    raise AlreadyRunning(
        f"{files.descriptor} is that of a running server of another database; give this one its own runtime.dir"
    )


def _check_port(host: str, port: int) -> None:
    """Refuse a port that is taken at once and in one line: gunicorn tries it for five seconds."""
    if not port:
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise RuntimeRefused(f"port {port} of {host} cannot be used: {error.strerror}") from None


def _prepare_store(settings: Settings) -> None:
    """Create and migrate the store, so that one that cannot be opened is refused before we listen."""
    from hivekeep.wiring import open_server

    open_server(settings, threaded=False).engine.close()


class _Application(BaseApplication):  # type: ignore[misc]
    """gunicorn's view of the server: its configuration, and the ASGI application of a worker."""

    def __init__(
        self, settings: Settings, files: paths.RuntimeFiles, instance_id: str, announced_as: str | None
    ) -> None:
        """`announced_as` is the operation of the envelope that tells where the server is; None tells the URL alone."""
        self._settings = settings
        self._files = files
        self._instance_id = instance_id
        self._announced_as = announced_as
        self._token = auth.new_token()
        self._started_at = ts(now_us())
        super().__init__(prog="hivekeep")

    def load_config(self) -> None:
        host = self._settings.serve_host
        chosen = {
            "bind": f"{f'[{host}]' if ':' in host else host}:{self._settings.serve_port}",
            "workers": 1,
            "worker_class": _Worker,
            "backlog": BACKLOG,
            "keepalive": KEEP_ALIVE_S,
            "graceful_timeout": GRACE_S,
            "loglevel": self._settings.log_level,
            "proc_name": "hivekeep",
            "umask": 0o077,
            "when_ready": self._check_again,
            "post_fork": _watch_parent,
            "post_worker_init": self._announce,
            # Newer gunicorn opens a control socket unless told not to; older ones do not know the word.
            "control_socket_disable": True,
        }
        for name, value in chosen.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        from hivekeep.doors.http import Door, create_app
        from hivekeep.jobs import embedding, schedule
        from hivekeep.wiring import open_server

        guard = auth.Guard(self._token, self._settings.serve_allowed_origins)
        server = open_server(self._settings, threaded=True)
        jobs = (
            embedding.start_job(server.engine, server.around.embedders, self._settings),
            schedule.start_job(server),
        )
        limit = self._settings.serve_body_limit_bytes or HTTP_BODY_MAX_BYTES
        app = create_app(Door(server, guard, limit, self._instance_id))
        return _stopping_first([job for job in jobs if job is not None], app)

    def run(self) -> None:
        _OneWorker(self).run()

    def _check_again(self, _arbiter: Arbiter) -> None:
        """Now that we listen, look once more whether another server came up in the meantime."""
        _refuse_another(self._files)

    def _announce(self, worker: UvicornWorker) -> None:
        """Publish the descriptor; the first worker also says on standard output where the server is."""
        host, port = self._settings.serve_host, worker.sockets[0].getsockname()[1]
        ours = Descriptor(
            instance_id=self._instance_id,
            pid=worker.ppid,
            base_url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
            database_fingerprint=self._files.fingerprint,
            started_at=self._started_at,
            capability_token=self._token,
        )
        try:
            descriptor.write(self._files.descriptor, ours)
        except RuntimeRefused as refusal:
            sys.stderr.write(f"hivekeep: {refusal}\n")
            # The master ends with this status when a worker cannot begin.
            sys.exit(Arbiter.WORKER_BOOT_ERROR)
        if worker.age == 1:
            _tell(ours, self._announced_as)


def _tell(ours: Descriptor, announced_as: str | None) -> None:
    """One line on standard output, which nobody has to read: the URL, or an envelope of the operation."""
    told = {"status": "running", "url": ours.base_url, "descriptor": ours.public()}
    line = ours.base_url if announced_as is None else json.dumps(gateway.success(announced_as, told))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _stopping_first(jobs: Sequence[EmbeddingJob | ScheduleJob], app: Any) -> Any:
    """The application, except that the jobs end before the application closes the store."""

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        async def received() -> Any:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                for job in jobs:
                    await asyncio.to_thread(job.stop)
            return message

        await app(scope, received if scope["type"] == "lifespan" else receive, send)

    return outer


class _OneWorker(Arbiter):  # type: ignore[misc]
    """gunicorn's master whose every stop is a graceful one, without the signals for a second worker or master."""

    def handle_int(self) -> None:
        """SIGINT stops as SIGTERM does: requests that were accepted are answered, the store is closed."""
        self.handle_term()

    def handle_quit(self) -> None:
        """SIGQUIT stops as SIGTERM does."""
        self.handle_term()

    def handle_ttin(self) -> None:
        """SIGTTIN asks for one worker more."""

    def handle_ttou(self) -> None:
        """SIGTTOU asks for one worker less."""

    def handle_usr2(self) -> None:
        """SIGUSR2 asks for another master on the same socket."""


class _Worker(UvicornWorker):  # type: ignore[misc]
    """uvicorn without what a loopback service must not trust or tell."""

    CONFIG_KWARGS = {  # noqa: RUF012
        **UvicornWorker.CONFIG_KWARGS,
        "access_log": False,
        "http": Protocol,
        "lifespan": "on",
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": GRACE_S,
        "ws": "none",
    }


def _watch_parent(_arbiter: Arbiter, worker: UvicornWorker) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent_watch.stop_with_parent(worker.ppid)
