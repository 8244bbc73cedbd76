"""The one place where everything meets: settings, store, gate, packs, server.

Invariant: nothing below knows what is wired to it. A new pack is one more entry in `_PACKS`; the return type of its
maker lets the type checker name every handler that is missing. A pack is imported when one of its verbs or kinds is
first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hivekeep import paths
from hivekeep.dispatch.call import Surroundings
from hivekeep.dispatch.run import Server
from hivekeep.gate.policy import load_gate
from hivekeep.packs.context import MAIN, Context
from hivekeep.packs.ontology import Ontology
from hivekeep.search.embedders import load_embedders
from hivekeep.settings import select_packs
from hivekeep.storage.connections import storage_options
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep_contract.catalog import PACKS
from hivekeep_contract.settings import Settings

if TYPE_CHECKING:
    from hivekeep.agent.context import AgentContext
    from hivekeep.dispatch.gateway import GatewayServer
    from hivekeep_contract.handlers.brain import BrainHandlers
    from hivekeep_contract.handlers.comm import CommHandlers
    from hivekeep_contract.handlers.gateway import GatewayHandlers
    from hivekeep_contract.handlers.gtd import GtdHandlers
    from hivekeep_contract.handlers.kg import KgHandlers
    from hivekeep_contract.handlers.memory import MemoryHandlers
    from hivekeep_contract.handlers.schedule import ScheduleHandlers
    from hivekeep_contract.handlers.session import SessionHandlers


def open_server(settings: Settings, *, threaded: bool) -> Server:
    """A server on the store that the settings name, its packs loaded and its policy in force.

    `threaded` gives the writer a thread of its own. Raises SettingsError for an unusable pack set, PolicyError for an
    unusable policy, and the errors of opening a store; nothing stays open then.
    """
    names = select_packs(settings.runtime_packs, PACKS)
    path = paths.database_path(settings)
    engine = SqliteEngine(path, storage_options(settings), read_only=settings.read_only)
    around = Surroundings(
        settings=settings,
        ontology=Ontology(names),
        packs=_Loaded(names),
        engines={MAIN: engine},
        gate=load_gate(settings),
        embedders=load_embedders(settings),
    )
    if "brain" in around.packs:
        around.observe = _brain_observer(engine)
    engine.start(threaded=threaded)
    return Server(engine, around)


def open_gateway(server: Server) -> GatewayServer:
    """The agent event gateway on the store and under the policy of a server."""
    from hivekeep.agent.operations import GatewayOperations
    from hivekeep.dispatch.gateway import GatewayServer

    operations: GatewayHandlers[AgentContext] = GatewayOperations()
    return GatewayServer(server.engine, server.around.settings, server.around.gate, operations)


class _Loaded(Mapping[str, object]):
    """The handlers of the packs of a server by name, each made when it is first asked for."""

    def __init__(self, names: Sequence[str]) -> None:
        self._made: dict[str, object | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> object:
        made = self._made[name]
        if made is None:
            made = self._made[name] = _PACKS[name]()
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def _brain_observer(engine: SqliteEngine) -> Callable[[str, str], None]:
    from hivekeep.tuning import passive

    return passive.of(engine).dispatched


def _kg() -> KgHandlers[Context]:
    from hivekeep.packs.kg import KgPack

    return KgPack()


def _gtd() -> GtdHandlers[Context]:
    from hivekeep.packs.gtd import GtdPack

    return GtdPack()


def _memory() -> MemoryHandlers[Context]:
    from hivekeep.packs.memory import MemoryPack

    return MemoryPack()


def _brain() -> BrainHandlers[Context]:
    from hivekeep.packs.brain import BrainPack

    return BrainPack()


def _session() -> SessionHandlers[Context]:
    from hivekeep.packs.session import SessionPack

    return SessionPack()


def _comm() -> CommHandlers[Context]:
    from hivekeep.packs.comm import CommPack

    return CommPack()


def _schedule() -> ScheduleHandlers[Context]:
    from hivekeep.packs.schedule import SchedulePack

    return SchedulePack()


_PACKS: dict[str, Callable[[], object]] = {
    "kg": _kg,
    "gtd": _gtd,
    "memory": _memory,
    "brain": _brain,
    "comm": _comm,
    "schedule": _schedule,
    "session": _session,
}
