# hivekeep: everything a contributor runs. `make` alone lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo generate check test test-slow bench serve new-verb

help:  ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "hivekeep needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "installing hivekeep and the MCP client ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[examples]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing hivekeep with what its tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## Create the environment with everything a contributor needs

demo: $(VENV)/.demo  ## Map the installed Python packages into a hivekeep store and ask it two questions
	@$(BIN)/python examples/map_site_packages.py

generate: $(VENV)/.dev  ## Print generated/ from registry/ and templates/
	$(BIN)/python -m tools.generate

check: $(VENV)/.dev  ## Drift, style, types, layers, documentation
	$(BIN)/python -m tools.generate --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -m "not slow" tests/docs

test: $(VENV)/.dev  ## Every test but the slow ones
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-slow: $(VENV)/.dev  ## The tests that take seconds each: real processes, kills, full disks
	$(BIN)/python -m pytest -q -m slow

bench: $(VENV)/.dev  ## Ratios against the raw floor
	$(BIN)/python -m benchmarks

serve: $(VENV)/.demo  ## Start the HTTP server on the default store
	$(BIN)/hivekeep serve

new-verb: $(VENV)/.dev  ## Write a contract skeleton: make new-verb PACK=x VERB=y
	@$(BIN)/python -m tools.new_verb $(PACK) $(VERB)
