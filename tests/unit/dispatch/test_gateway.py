"""The steps of an operation of the gateway."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.agent.operations import GatewayOperations
from hivekeep.dispatch.gateway import Asked
from hivekeep.dispatch.run import Steps
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.gateway_errors import ValidationError
from support.gateway import Gateway, open_in_process, opening

WAIT_S = 20


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """The operations on a store in memory."""
    with open_in_process() as opened:
        yield opened


def steps(gateway: Gateway, body: dict[str, Any], *, long: bool) -> Steps:
    """The steps of an open."""
    asked = Asked(OPERATIONS["agent.open"], body=body, key=gateway.fresh_key(), long=long)
    return gateway.gateway.steps(asked, gateway.caller, source="test")


def lanes(taken: Steps) -> tuple[list[str], Any]:
    """The lanes of all steps, and what they end with: data, or the failure."""
    found = []
    try:
        step = next(taken)
        while True:
            found.append(step.lane)
            step = taken.send(step.run())
    except StopIteration as end:
        return found, end.value


def test_what_an_operation_does_with_a_long_body_is_slow_work(gateway: Gateway) -> None:
    """Sanitising two megabytes takes up to two seconds, in which the loop answered nobody.

    The items stay what they are, with the work between them in the slow lane.
    """
    short, answer = lanes(steps(gateway, opening(), long=False))
    long, same = lanes(steps(gateway, opening(), long=True))
    assert (short, long) == (
        ["write", "slow", "write"],
        ["slow", "write", "slow", "slow", "slow", "write", "slow"],
    )
    assert answer["profileHash"] == same["profileHash"]


def test_a_refusal_of_slow_work_reaches_the_client(gateway: Gateway) -> None:
    """It is thrown into the steps as a thread would, and leaves them as the same failure with its audit row."""
    taken = steps(gateway, opening(metadata={"a": "b " * 40_000}), long=True)
    first = next(taken)
    with pytest.raises(ValidationError) as refused:
        first.run()
    row = taken.throw(refused.value)
    assert (first.lane, row.lane, [part.outcome for part in row.rows]) == ("slow", "audit", ["error"])
    row.run()
    with pytest.raises(ValidationError) as told:
        taken.send(None)
    assert (told.value.reason, told.value.field) == ("too_large", "/metadata")


def test_a_client_that_goes_away_leaves_the_thread_alone(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that a thread is in cannot be closed from another one: closing it raised ValueError."""
    begun, go_on = threading.Event(), threading.Event()

    def held(*_: object) -> Iterator[Any]:
        begun.set()
        assert go_on.wait(WAIT_S)
        yield

    monkeypatch.setattr(GatewayOperations, "open", staticmethod(held))
    taken = steps(gateway, opening(), long=True)
    thread = threading.Thread(target=next(taken).run)
    thread.start()
    assert begun.wait(WAIT_S)
    taken.close()
    go_on.set()
    thread.join(WAIT_S)
    assert not thread.is_alive()
