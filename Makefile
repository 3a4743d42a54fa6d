# Everything a developer or CI runs. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Tests run side by side; tests/conftest.py says how many at once is `auto`.
WORKERS ?= auto
say = @printf '\033[1m▸ %s\033[0m\n'

.PHONY: help up test test-cluster test-peers setup check bench bench-scale proto states lock sbom

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(READY) ## set up and run everything on this machine, with a demo to play with; Ctrl-C stops it
	@$(BIN)/fairway up --data .fairway

test: $(READY) ## set up, check, and run every test that needs no compiled peer
	@$(BIN)/python -m tools.run_tests --workers $(WORKERS)

test-cluster: $(READY) ## run the tests on a real Kubernetes cluster; its programs are built once with Go
	@$(BIN)/python -m tools.run_tests cluster --workers $(WORKERS)

test-peers: $(READY) ## run the tests with an S3 server, an OIDC provider and a Git host; built once with Go
	@$(BIN)/python -m tools.run_tests peers --workers $(WORKERS)

setup: $(READY) ## make .venv with everything in it

check: $(READY) ## lint, types, layers
	$(say) 'ruff'
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	$(say) 'mypy (strict)'
	@$(BIN)/mypy
	$(say) 'import-linter'
	@$(BIN)/lint-imports --no-cache --no-show-timings 2>/dev/null || $(BIN)/lint-imports

bench: $(READY) ## measure against the bare operations and print the table
	$(say) 'a cluster to measure on'
	@$(BIN)/python -m tools.peers cluster || echo '  the table is without it'
	$(say) 'bench'
	@$(BIN)/python -m bench

bench-scale: $(READY) ## the same with 1,000,000 deployments, 10,000 applications and 1,000 agents, on both databases
	$(say) 'bench-scale'
	@$(BIN)/python -m bench scale

proto: $(READY) ## regenerate the gRPC code from proto/
	$(say) 'protoc'
	@$(BIN)/python -m tools.generate_proto

states: $(READY) ## regenerate docs/states.md from the transition tables
	$(say) 'docs/states.md'
	@$(BIN)/python -m tools.generate_states

lock: $(READY) ## renew requirements.lock from pyproject.toml
	$(say) 'requirements.lock'
	@tools/retry $(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --upgrade -o requirements.lock

sbom: $(READY) ## list the third-party packages: dist/fairway.cdx.json (CycloneDX), THIRD_PARTY_NOTICES.md
	$(say) 'SBOM'
	@$(BIN)/python -m tools.sbom

$(READY): requirements.lock pyproject.toml tools/setup tools/retry
	$(say) 'setting up .venv (once; again when the lock file changes)'
	@PYTHON=$(PYTHON) tools/setup
	@touch $@
