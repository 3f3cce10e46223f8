# Needs make and Python 3.11 or newer with venv and pip. Everything else is installed into .venv.
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
TOOLS := $(VENV)/.tools
PEERS := $(VENV)/.peers

TOO_OLD := tileproof needs Python 3.11 or newer; name one: make PYTHON=python3.12
define create-venv
@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(TOO_OLD)")'
@$(BIN)/python -m pip --version >/dev/null 2>&1 || \
	{ echo "== creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
endef

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint corpus bench-cpu gpu-bundle docs clean

help:
	@echo "make demo       run the examples"
	@echo "make test       everything a change must pass: lint, types, tests"
	@echo "make lint       ruff, mypy and basedpyright alone"
	@echo "make corpus     score the checker on kernels with known answers"
	@echo "make bench-cpu  time kernels on the CPU against torch; BENCH=\"matmul softmax\" chooses some"
	@echo "make gpu-bundle compile all that GPU tests and benchmark launch into build/gpu-cache; SWEEP=1 all candidates"
	@echo "make docs       build the documentation into site/"
	@echo "make clean      remove all that make made, .venv included"

demo: $(CORE)
	@$(BIN)/python examples/demo.py

test: lint
	@echo "== pytest"
	@$(BIN)/python -m pytest -n auto

lint: $(TOOLS)
	@echo "== ruff"
	@$(BIN)/ruff check --quiet .
	@echo "== mypy"
	@$(BIN)/mypy --strict src
	@echo "== basedpyright"
	@$(BIN)/basedpyright --pythonpath $(BIN)/python examples

corpus: $(CORE)
	@$(BIN)/python tests/corpus/score.py

# The page of results is of all rows or it is not written.
bench-cpu: $(PEERS)
	@$(BIN)/python -m benchmarks cpu $(if $(BENCH),--rows $(BENCH),--save benchmarks/results)

# For a machine that has a GPU, but neither assembler nor prover.
gpu-bundle: $(TOOLS)
	@$(BIN)/python tools/gpu_bundle.py $(if $(SWEEP),--sweep) $(if $(ARCH),--arch $(ARCH))

docs: $(TOOLS)
	@echo "== mkdocs"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

clean:
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is as new as the pyproject.toml it was installed from. The demo needs no more than users do; the tools
# include the core, so their installation stamps both.
$(CORE): pyproject.toml
	$(create-venv)
	@echo "== installing tileproof into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(TOOLS): pyproject.toml
	$(create-venv)
	@echo "== installing tileproof and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $(CORE) $@

$(PEERS): pyproject.toml
	$(create-venv)
	@echo "== installing tileproof and what it is measured against into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $(CORE) $@
