"""`python -m tools.generate` prints the package; `--check` tells what is stale and exits 1."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.generate.build import HOME, build
from tools.generate.problems import ContractError
from tools.generate.write import differences, write


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: written, or nothing to do. 1: a bad contract, or stale files under `--check`."""
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when a file is stale")
    parser.add_argument("--root", type=Path, default=HOME, help="where registry/ and generated/ are")
    options = parser.parse_args(arguments)
    try:
        files = build(options.root)
    except ContractError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        return _check(options.root, files)
    changed = write(options.root, files)
    print(f"{len(files)} files, {len(changed)} changed")
    return 0


def _check(root: Path, files: dict[str, str]) -> int:
    found = list(differences(root, files))
    for path, what in found:
        print(f"{path}: {what}", file=sys.stderr)
    if found:
        print("run `make generate` and commit the result", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
