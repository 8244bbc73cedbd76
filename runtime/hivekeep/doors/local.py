"""The store of this process and its one caller: what stdio and the command line stand in front of.

What it keeps true: settings are read when something needs them and the store is opened when the first
operation or a pause of the client asks for it, so constructing this costs nothing; who is asking comes from
the settings, since a process without a network has one caller.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from hivekeep.doors import mcp

if TYPE_CHECKING:
    from hivekeep.dispatch.run import Server, Step
    from hivekeep.identity.caller import Caller
    from hivekeep.jobs.embedding import EmbeddingJob
    from hivekeep_contract.request import Presentation
    from hivekeep_contract.settings import Settings


class Local:
    """One process's settings, store and caller; `given` are option texts by setting key."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self._settings: Settings | None = None
        self._opened: tuple[Server, Caller] | None = None
        self._jobs_started = False
        self._job: EmbeddingJob | None = None
        self._tool: dict[str, Any] | None = None

    @property
    def settings(self) -> Settings:
        """The settings of this process. Raises the errors of reading them."""
        if self._settings is None:
            from hivekeep.doors import logs
            from hivekeep.settings import load

            self._settings = load(self._given)
            logs.configure(self._settings.log_level)
        return self._settings

    def tool(self) -> dict[str, Any]:
        """The definition of the MCP tool for the packs of this process."""
        if self._tool is None:
            from hivekeep.settings import select_packs
            from hivekeep_contract.catalog import PACKS

            self._tool = mcp.load_tool(frozenset(select_packs(self.settings.runtime_packs, PACKS)))
        return self._tool

    def warm_up(self) -> None:
        """Open the store and import what a call needs."""
        from hivekeep.request import envelope  # noqa: F401

        self._open()
        self._start_jobs()

    def steps(self, arguments: dict[str, Any]) -> Generator[Step, bool, dict[str, Any]]:
        """The waits of one tool call that came over MCP; the generator returns its envelope.

        Raises HivekeepError when it is refused as a whole.
        """
        from hivekeep.dispatch.run import waits_of
        from hivekeep.request.envelope import parse_tool_call

        call = parse_tool_call(arguments, default_presentation="agent")
        server, caller = self._open()
        envelope: dict[str, Any] = yield from waits_of(server.steps(call, caller, source="mcp"))
        self._start_jobs()
        return envelope

    def data_version(self) -> int:
        """The state of the store; see `Engine.data_version`."""
        return self._open()[0].engine.data_version()

    def execute(self, arguments: dict[str, Any], *, source: str, presentation: Presentation) -> dict[str, Any]:
        """The envelope of one tool call; `presentation` holds where the call names none."""
        from hivekeep.request.envelope import parse_tool_call

        call = parse_tool_call(arguments, default_presentation=presentation)
        server, caller = self._open()
        return server.handle(call, caller, source=source)

    def close(self) -> None:
        """Let go of the store, if it was opened."""
        if self._job is not None:
            self._job.stop()
            self._job = None
        if self._opened is not None:
            self._opened[0].engine.close()
            self._opened = None

    def _start_jobs(self) -> None:
        """Begin what goes on beside the answers; a process that runs one command and ends has nothing of it."""
        if self._jobs_started:
            return
        from hivekeep.jobs.embedding import start_job

        server, _ = self._open()
        self._job = start_job(server.engine, server.around.embedders, self.settings)
        self._jobs_started = True

    def _open(self) -> tuple[Server, Caller]:
        if self._opened is None:
            from hivekeep.identity.caller import make_caller
            from hivekeep.wiring import open_server

            settings = self.settings
            caller = make_caller(
                settings.actor_id, settings.namespace, settings.actor_visible_namespaces, settings.actor_session
            )
            self._opened = (open_server(settings, threaded=False), caller)
        return self._opened
