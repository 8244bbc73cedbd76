"""Every example of the contracts runs as it is printed in the documentation."""

import json
from importlib import resources
from typing import Any

import pytest

import hivekeep_contract
from hivekeep_contract.catalog import VERBS
from support.client import Hive, contains, fill, filled

EXAMPLES: list[dict[str, Any]] = json.loads(
    resources.files(hivekeep_contract).joinpath("examples.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example['verb']}: {example['name']}")
def test_example_answers_what_it_says(example: dict[str, Any], hive: Hive) -> None:
    """A printed call answers the printed result or error."""
    results: list[Any] = []
    for setup in example["setup"]:
        made = hive.inside(fill(setup, results))
        assert made["ok"], made
        results.append(made["result"])
    entry = hive.inside(fill(example["call"], results))
    if "error" in example:
        wanted = dict(example["error"])
        says = wanted.pop("says", "")
        assert not entry["ok"], entry
        assert contains(entry["error"], wanted), entry
        assert says in entry["error"]["message"]
    else:
        assert entry["ok"], entry
        assert contains(entry["result"], filled(example["result"], results)), entry


def test_every_verb_has_a_good_and_a_refused_example() -> None:
    """The documentation shows for every verb what works and what does not."""
    good = {example["verb"] for example in EXAMPLES if "error" not in example}
    refused = {example["verb"] for example in EXAMPLES if "error" in example}
    assert (good, refused) == (set(VERBS), set(VERBS))
