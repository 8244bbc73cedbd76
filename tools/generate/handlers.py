"""What a pack must implement: the types its protocol names."""

from __future__ import annotations

from tools.generate.model import Pack, ShapeUse, Verb, camel


def handler_imports(pack: Pack) -> list[tuple[str, list[str]]]:
    """Module and names; a result may be a shape of another pack."""
    names: dict[str, set[str]] = {pack.name: {f"{verb.class_name}Args" for verb in pack.verbs}}
    for verb in pack.verbs:
        expr = verb.returns.expr
        module = expr.shape.partition(".")[0] if isinstance(expr, ShapeUse) and not expr.plus else pack.name
        names.setdefault(module, set()).add(result_class(verb))
    return [(module, sorted(found)) for module, found in sorted(names.items()) if found]


def result_class(verb: Verb) -> str:
    """The result type of a handler: the shape it returns, or the alias made for the verb."""
    expr = verb.returns.expr
    if isinstance(expr, ShapeUse) and not expr.plus:
        return camel(expr.shape.partition(".")[2])
    return f"{verb.class_name}Result"
