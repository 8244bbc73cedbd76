"""The Python modules of the package that templates/python print, each from the values of one topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.generate.catalog import catalog_values
from tools.generate.constants import limit_values, presentation_values, secret_values
from tools.generate.gateway_python import gateway_pages
from tools.generate.handlers import handler_imports, result_class
from tools.generate.language import error_values, request_values
from tools.generate.model import Contract, camel
from tools.generate.reference import reference_values
from tools.generate.settings import setting_values
from tools.generate.surface import route_values
from tools.generate.templates import Templates
from tools.generate.vocabulary import vocabulary_values


def emit_python(contract: Contract, templates: Templates) -> dict[str, str]:
    """Every hand-sized module of the package, by path."""
    pages: dict[str, Mapping[str, Any]] = {
        "__init__.py": {},
        "catalog.py": catalog_values(contract),
        "errors.py": {
            "errors": error_values(contract),
            "details_max": contract.data["limits"]["limits"]["error_details_max"]["value"],
        },
        "limits.py": {"constants": limit_values(contract)},
        "presentation.py": {"constants": presentation_values(contract.data["presentation"]["presentation"])},
        "reference.py": reference_values(contract),
        "request.py": request_values(contract),
        "routes.py": route_values(contract),
        "secrets.py": secret_values(contract.data["secrets"]),
        "settings.py": setting_values(contract.data["settings"]["settings"]),
        "vocabulary.py": vocabulary_values(contract),
    }
    found = {path: templates.render(f"python/{path}.j2", **values) for path, values in pages.items()}
    found["handlers/__init__.py"] = templates.render("python/handlers_init.py.j2")
    for pack in contract.packs:
        found[f"handlers/{pack.name}.py"] = templates.render(
            "python/handlers.py.j2",
            pack=pack,
            class_name=camel(pack.name),
            imports=handler_imports(pack),
            waits=any(verb.wait for verb in pack.verbs),
            result_class=result_class,
        )
    for path, (template, values) in gateway_pages(contract).items():
        found[path] = templates.render(f"python/{template}", **values)
    return found
