#!/usr/bin/env bash
# Fetches the public MCP conformance suite and the Node it needs, pinned, and runs what applies to this server.
# Called by .ci/run after `make setup`; needs npm. What it fetches is kept outside the repository.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
python="$here/../../.venv/bin/python"
suite=0.2.0-alpha.12
node=22
kept="${XDG_CACHE_HOME:-$HOME/.cache}/hivekeep-conformance/$suite-node$node"

if [ ! -e "$kept/complete" ]; then
  mkdir -p "$kept"
  npm install --prefix "$kept" --no-audit --no-fund --no-save --loglevel=error \
    "node@$node" "@modelcontextprotocol/conformance@$suite"
  touch "$kept/complete"
fi

modules="$kept/node_modules"
exec "$python" "$here/run.py" "$modules/node/bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js"
