"""The running application answers as openapi.json says, for generated requests of every route.

Derandomised and small: the point is that every route, status and shape is declared and enforced.
"""

import json
import threading
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
import schemathesis
import uvicorn
from hypothesis import Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS
from schemathesis.generation import GenerationMode

import hivekeep_contract
from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.wiring import open_server
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.settings import Settings

TOKEN = "ab" * 32
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
EXAMPLES = 12
BODY_LIMIT = 65_536
PHASES = (Phase.explicit, Phase.generate)
"""No shrinking: the runs are derandomised, so a failure is there to be looked at again."""

LEFT_OUT = {
    "positive_data_acceptance": "a request can fit the schema and still name a record or kind that does not exist",
}


OPENAPI = json.loads(resources.files(hivekeep_contract).joinpath("openapi.json").read_text(encoding="utf-8"))
GATEWAY = {operation.path for operation in OPERATIONS.values()}
ROUTES = [(path, method) for path, methods in OPENAPI["paths"].items() if path not in GATEWAY for method in methods]
"""Operations of the gateway are asked in tests/gateway, along their links as well."""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    """The schema, bound to the application running on a loopback port of this process over a fresh store."""
    path: Path = tmp_path_factory.mktemp("store") / "hive.db"
    door = Door(open_server(Settings(db=str(path), embedding_models=()), threaded=True), Guard(TOKEN, []), BODY_LIMIT)
    server = uvicorn.Server(uvicorn.Config(create_app(door), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), ROUTES)
def test_a_route_keeps_its_contract(
    path: str, method: str, mode: GenerationMode, schema: schemathesis.BaseSchema
) -> None:
    """Statuses, media types, headers and bodies are the declared ones; what the schema forbids is refused."""
    excluded = [check for check in CHECKS.get_all() if check.__name__ in LEFT_OUT]

    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, phases=PHASES)
    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=HEADERS, excluded_checks=excluded)

    try:
        ask()
    except Unsatisfiable:
        assert "requestBody" not in OPENAPI["paths"][path][method], "only a route without a body has nothing to forbid"
