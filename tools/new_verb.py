"""`python -m tools.new_verb PACK VERB` (`make new-verb PACK=x VERB=y`): begin a verb with its contract.

Writes `registry/packs/PACK/VERB.yaml` with empty texts, which the generator refuses by file and line until they are
filled in, and prints where the method goes. It never overwrites a file.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tools.generate.build import HOME
from tools.generate.model import camel, method_name
from tools.generate.problems import ContractError, did_you_mean
from tools.generate.read import read_file
from tools.generate.templates import Templates

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Refused(Exception):
    """The skeleton cannot be written; the message says why and what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: written. 1: refused, nothing written."""
    parser = argparse.ArgumentParser(prog="python -m tools.new_verb", description=__doc__)
    parser.add_argument("pack")
    parser.add_argument("verb", help="without the prefix of the pack")
    parser.add_argument("--root", type=Path, default=HOME, help="where registry/ is")
    options = parser.parse_args(arguments)
    try:
        print(new_verb(options.root, options.pack, options.verb))
    except (Refused, ContractError) as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def new_verb(root: Path, pack: str, verb: str) -> str:
    """Write the skeleton below `root`; the text that tells what comes next. Raises Refused."""
    packs = root / "registry" / "packs"
    known = sorted(path.parent.name for path in packs.glob("*/_pack.yaml"))
    if pack not in known:
        first = f"a new pack begins with registry/packs/{pack}/_pack.yaml"
        raise Refused(f"there is no pack '{pack}'{did_you_mean(pack, known)}; {first}")
    if _NAME.fullmatch(verb) is None:
        raise Refused(f"'{verb}' is no verb name: small letters, digits and underscores, a letter first")
    path = packs / pack / f"{verb}.yaml"
    where = path.relative_to(root).as_posix()
    if path.exists():
        raise Refused(f"{where} exists already")
    bare = read_file(packs / pack / "_pack.yaml", f"registry/packs/{pack}/_pack.yaml").data.get("bare", False)
    name = verb if bare else f"{pack}.{verb}"
    path.write_text(Templates(HOME / "templates").render("new_verb.yaml.j2", name=name), encoding="utf-8")
    return _next_steps(pack, verb, where)


def _next_steps(pack: str, verb: str, where: str) -> str:
    method, title = method_name(verb), camel(verb)
    return "\n".join(
        (
            f"wrote {where}",
            "1. fill in its empty texts and say what it takes and returns, then run `make generate`",
            f"2. the class in runtime/hivekeep/packs/{pack}/ that keeps {camel(pack)}Handlers needs the method",
            f"       def {method}(self, ctx: Ctx, args: {title}Args) -> {title}Result: ...",
            f"   its types are in hivekeep_contract.models.{pack}; mypy names the class until it has the method",
            "3. `make check test` runs the examples of the contract",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
