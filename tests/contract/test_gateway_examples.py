"""Every example of the gateway's operations runs as it is printed in the documentation."""

import json
from importlib import resources
from typing import Any

import pytest

import hivekeep_contract
from hivekeep_contract.gateway import OPERATIONS
from support.client import contains
from support.gateway import Gateway, open_in_process

EXAMPLES: list[dict[str, Any]] = json.loads(
    resources.files(hivekeep_contract).joinpath("gateway_examples.json").read_text(encoding="utf-8")
)


def prepared(gateway: Gateway, steps: list[dict[str, Any]]) -> str | None:
    """Carry out the setup; the run that it opened."""
    run_id = None
    for step in steps:
        made = gateway.ask(step["operation"], run_id, step["request"])
        run_id = run_id or made.data["runId"]
    return run_id


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example['operation']}: {example['name']}")
def test_example_answers_what_it_says(example: dict[str, Any]) -> None:
    """A printed request gets the printed status, and the printed data or reason."""
    operation = OPERATIONS[example["operation"]]
    with open_in_process() as gateway:
        run_id = prepared(gateway, example["setup"])
        body = example["request"] if operation.writes else None
        query = None if operation.writes else example["request"]
        reply = gateway.ask(operation.name, run_id, body, query=query)
    assert reply.status == example["status"], reply.envelope
    if "data" in example:
        assert contains(reply.data, example["data"]), reply.data
    else:
        assert reply.error["details"]["reason"] == example["reason"]


def test_every_operation_has_an_example_that_works() -> None:
    """The documentation shows how each operation is asked, and for each write a refusal."""
    assert {example["operation"] for example in EXAMPLES if "data" in example} == set(OPERATIONS)
    refused = {example["operation"] for example in EXAMPLES if "reason" in example}
    assert {name for name, operation in OPERATIONS.items() if operation.writes} <= refused
