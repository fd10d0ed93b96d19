# kimi-tui: `make run` opens the app, `make test` passes the tests; both set up what they need first.

PYTHON ?= $(firstword $(foreach candidate,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(candidate) -c 'import sys; sys.version_info >= (3, 11) and print("$(candidate)")' 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# What was compiled once is kept, whatever the machine's settings say: hundreds of modules are started often.
unexport PYTHONDONTWRITEBYTECODE
# How often `make faults` ends the program.
ROUNDS ?= 1000
# Any order of edits, jumps, compactions and crashes.
TRAVELS := tests/engine/test_any_travel.py tests/history/test_machine.py tests/history/snapshots/test_machine.py
# Two more than there are cores: tests wait for programs and for screens to rest.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2)

.PHONY: run test bench faults smoke check format screenshots docs clean help

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: $(VENV)/.runtime ## set up and open the app (ARGS="..." are its options)
	@$(BIN)/kimi-tui $(ARGS)

test: $(VENV)/.dev ## set up and run the tests (ARGS="tests/tui -k prompt" for some)
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

bench: $(VENV)/.dev ## measure beside bare programs (ARGS="--short startup" for some)
	@$(BIN)/python -m benchmarks $(ARGS)

faults: $(VENV)/.dev ## end the program 1,000 times, feed it nonsense, travel about, work for 2,000 steps: nothing is lost
	@$(BIN)/python -m tests.e2e.rounds --rounds $(ROUNDS) $(ARGS)
	@KIMI_TUI_KILL_ROUNDS=50 $(BIN)/pytest -n 0 --timeout 1800 -q tests/e2e/test_killed.py
	@KIMI_TUI_FUZZ_EXAMPLES=1000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q tests/fuzz
	@KIMI_TUI_TRAVELS=1000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q $(TRAVELS)
	@KIMI_TUI_LONG_STEPS=2000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q tests/soul/test_compacting.py -k long_work

smoke: $(VENV)/.dev ## a minute's worth of faults and bench: whether they still run
	@$(BIN)/python -m tests.e2e.rounds --rounds 6 --workers 2 --seed 1
	@$(BIN)/python -m benchmarks --smoke startup headless streaming

check: $(VENV)/.dev ## format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev ## format the code and mend what the linter can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

screenshots: $(VENV)/.dev ## take screenshots/*.svg anew, and record screenshots/tour.cast
	@$(BIN)/python scripts/screenshots.py
	@$(BIN)/python scripts/tour.py

docs: $(VENV)/.dev ## write the reference of the settings and the manual page anew
	@$(BIN)/python scripts/configuration_reference.py
	@$(BIN)/python scripts/man_page.py

clean: ## remove what was set up and built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .import_linter_cache

# $(1): what to install. uv when it is there, else venv and pip.
define install
	@test -n "$(PYTHON)" || { echo "kimi-tui needs Python 3.11 or newer. Install it, then run make again."; exit 1; }
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV) && \
		uv pip install --quiet --python $(BIN)/python -e "$(1)"; \
	else \
		$(PYTHON) -m venv $(VENV) && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e "$(1)"; \
	fi
	@touch $@
endef

$(VENV)/.runtime: pyproject.toml
	@echo "Setting up kimi-tui in $(VENV); this takes a minute, once."
	$(call install,.)

$(VENV)/.dev: pyproject.toml
	@echo "Setting up kimi-tui and its development tools in $(VENV); this takes a minute or two, once."
	$(call install,.[dev])
	@touch $(VENV)/.runtime
