"""One run in memory: registry and templates in, every file of the package out."""

from __future__ import annotations

from pathlib import Path

from tools.generate.docs import emit_docs
from tools.generate.gateway_examples import check_gateway_examples
from tools.generate.meta import META_SCHEMA, read_registry
from tools.generate.models import emit_models
from tools.generate.openapi import emit_openapi
from tools.generate.python import emit_python
from tools.generate.resolve import resolve
from tools.generate.templates import Templates
from tools.generate.wire import emit_wire

HOME = Path(__file__).resolve().parents[2]


def build(root: Path, home: Path = HOME) -> dict[str, str]:
    """The text of each file, by its path below the package, sorted. Raises ContractError.

    `root` holds registry/ and docs/guides/, `home` the machinery: templates/ and registry/_meta/.
    """
    contract = resolve(read_registry(root, home / META_SCHEMA))
    check_gateway_examples(contract)
    templates = Templates(home / "templates")
    files = {
        "py.typed": "",
        **emit_python(contract, templates),
        **emit_models(contract),
        **emit_wire(contract),
        **emit_openapi(contract),
        **emit_docs(contract, templates, root),
    }
    return dict(sorted(files.items()))
