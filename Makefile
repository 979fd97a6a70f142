# Everything runs in `.venv`, made on first use from pyproject.toml with pip as it is configured here.

PYTHON ?= python3
BIN := .venv/bin
# Two workers for each core: tests often wait for a timer, a socket or a process.
WORKERS := $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true
READY := .venv/complete

# Without stored bytecode, each of the programs that the tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
PROTOS := $(wildcard inspector/protocol/bindings/proto/*.proto)
BENCH_READY := .venv/complete-bench

.DEFAULT_GOAL := demo
.PHONY: demo soak test test-slow fuzz lint types bench screenshots environments interop tck acts protos clean .venv

demo: $(READY)
	@$(BIN)/a2a-inspect demo

test: $(READY)
	@echo "left out: interop tests (make interop) and slow tests (make test-slow)"
	@$(PYTEST) -m "not interop and not slow"

# Also runs the properties again, with all examples.
test-slow: $(READY)
	@$(PYTEST) -m "slow or hypothesis" --hypothesis-profile all

# Tries ten times as many examples of properties, others in each run; not part of CI.
fuzz: $(READY)
	@$(PYTEST) -m hypothesis --hypothesis-profile random

lint: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-logo

types: $(READY)
	@$(BIN)/mypy && $(BIN)/mypy -p sample_agents && $(BIN)/mypy -p screenshots -p benchmarks

# Each SDK, authorization server and browser of the interop tests has an environment of its own.
environments: $(READY)
	@$(BIN)/python tests/interop/environments.py

interop: environments
	@$(PYTEST) -n 2 tests/interop -m interop

# The compatibility kits are not ours and not fetched: name checkouts of them (docs/conformance.md).
tck: $(READY)
	@$(BIN)/python tests/sample_agents/tck.py $(if $(TCK),--kit $(TCK)) $(if $(TCK_0_3),--kit-0-3 $(TCK_0_3))

# The official test suite is not ours and not fetched: name the folder of its suite.acts.yaml (docs/checks.md).
acts: environments
	@$(BIN)/python tests/interop/acts_suite.py $(SUITE)

bench: $(BENCH_READY)
	@$(BIN)/python -m benchmarks

# Runs the app beside an agent that makes every mistake; not part of CI.
MINUTES ?= 30

soak: $(READY)
	@$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

protos: $(PROTOS:.proto=.binpb)

%.binpb: %.proto $(READY)
	@$(BIN)/python -m grpc_tools.protoc --include_imports -I$(@D) --descriptor_set_out=$@ $(<F)

screenshots: $(READY)
	@$(BIN)/python -m screenshots

clean:
	rm -rf .venv .interop build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "a2a-inspect needs Python 3.11 or newer, $(PYTHON) is %d.%d: try make PYTHON=python3.11" % sys.version_info[:2])'
	@echo "making .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv  # over an environment of another Python, it would not work
	@$(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $@

$(BENCH_READY): $(READY)
	@$(BIN)/python -m pip install -qq --editable '.[bench]'
	@touch $@
