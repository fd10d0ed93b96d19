# kimi-tui: `make run` opens the app, `make test` runs the tests. Both set up `.venv` first if needed.

PYTHON ?= $(firstword $(foreach candidate,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(candidate) -c 'import sys; sys.version_info >= (3, 11) and print("$(candidate)")' 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
PACKAGE ?=
# Keep compiled modules even if the environment disables them: the tests start hundreds of modules often.
unexport PYTHONDONTWRITEBYTECODE
# How many times `make faults` kills the program.
ROUNDS ?= 1000
# Edits, reverts, compactions and crashes in random order.
STATE_MACHINES := tests/engine/test_revert_state_machine.py tests/history/test_context_state_machine.py \
	tests/history/snapshots/test_revert_state_machine.py
# What differs most between versions: the event loop, typing, tracebacks and the command line.
OTHER_PYTHON_TESTS ?= tests/base tests/wire tests/soul tests/config tests/codebase
# Four more than cores: many tests wait for a program or for the screen to settle.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 4)

.PHONY: run test quick attacks bench browser faults fleet peers smoke pythons check format screenshots docs dist lock clean help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: $(VENV)/.runtime ## open the app (ARGS="..." passes options)
	@$(BIN)/kimi-tui $(ARGS)

test: $(VENV)/.dev ## run the tests (ARGS="tests/tui -k prompt" selects some)
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

quick: $(VENV)/.dev ## run the tests of one package in under a minute (PACKAGE=engine, PACKAGE=tui/timeline)
	@test -n "$(PACKAGE)" -a -d "tests/$(PACKAGE)" || \
		{ echo "No tests in tests/$(PACKAGE). Name a package, for example: make quick PACKAGE=engine"; exit 1; }
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal --quick "tests/$(PACKAGE)" $(ARGS)

bench: $(VENV)/.dev ## run the benchmarks next to minimal programs (ARGS="--short startup" selects some)
	@$(BIN)/python -m benchmarks $(ARGS)

faults: $(VENV)/.dev ## inject faults: 1,000 kills, fuzzed input, random reverts, 1,000 commands, 2,000 steps
	@$(BIN)/python -m tests.e2e.rounds --rounds $(ROUNDS) $(ARGS)
	@KIMI_TUI_KILL_ROUNDS=50 $(BIN)/pytest -n 0 --timeout 1800 -q tests/e2e/test_killed.py
	@KIMI_TUI_FUZZ_EXAMPLES=1000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q tests/fuzz
	@KIMI_TUI_TRAVELS=1000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q $(STATE_MACHINES)
	@KIMI_TUI_RANDOM_ORDERS=5000 $(BIN)/pytest -n $(WORKERS) --timeout 7200 -q \
		tests/history/snapshots/test_random_orders.py
	@KIMI_TUI_HUNK_EXAMPLES=10000 $(BIN)/pytest -n 0 --timeout 1800 -q tests/history/snapshots/test_hunk.py \
		tests/engine/review/test_review.py
	@KIMI_TUI_LINE_HISTORIES=1000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q tests/history/line_origins
	@KIMI_TUI_INDEX_KILLS=100 $(BIN)/pytest -n 0 --timeout 1800 -q tests/session_search/test_interrupted_indexing.py
	@KIMI_TUI_PLANTED_BUGS=100 $(BIN)/pytest -n 0 --timeout 3600 -q tests/engine/bisect/test_planted_bugs.py
	@KIMI_TUI_ADOPTIONS=10000 $(BIN)/pytest -n 0 --timeout 7200 -q tests/engine/attempts/test_random_adoptions.py
	@KIMI_TUI_HOSTILE_RUNS=1000 $(BIN)/pytest -n 0 --timeout 3600 -q tests/engine/attempts/test_hostile_attempts.py
	@KIMI_TUI_CORPUS=all $(BIN)/pytest -n $(WORKERS) --timeout 3600 -q tests/workspaces/test_corpus.py
	@KIMI_TUI_EDIT_ORDERS=5000 KIMI_TUI_TRAVELS=1 $(BIN)/pytest -n $(WORKERS) --timeout 7200 -q \
		tests/workspaces/test_edits_during_commands.py
	@KIMI_TUI_COMMAND_LINES=300 $(BIN)/pytest -n $(WORKERS) --timeout 3600 -q tests/engine/test_random_command_lines.py
	@KIMI_TUI_ALL_ATTACKS=1 $(BIN)/pytest -n $(WORKERS) --timeout 3600 -q tests/engine/test_real_attacks.py
	@$(BIN)/python -m tests.resident.rounds
	@KIMI_TUI_LONG_STEPS=2000 $(BIN)/pytest -n $(WORKERS) --timeout 1800 -q tests/soul/test_compactor.py -k long_work

attacks: $(VENV)/.dev ## attack the permissions with all programs that are installed (CONTRIBUTING.md says how to install them)
	@KIMI_TUI_ALL_ATTACKS=1 $(BIN)/pytest -n $(WORKERS) --timeout 3600 -q -rs tests/engine/test_real_attacks.py

browser: $(VENV)/.browser ## play the story of time travel in the system's Chromium, if it is installed
	@$(BIN)/python -m tests.browser $(ARGS)

peers: $(VENV)/.dev ## compare with the real Kimi CLI (KIMI_CLI_CHECKOUT=DIR adds its own end-to-end suite)
	@$(BIN)/python -m tests.peers

smoke: $(VENV)/.dev ## check in a minute that faults and bench still run
	@$(BIN)/python -m tests.e2e.rounds --rounds 6 --workers 2 --seed 1
	@$(BIN)/python -m benchmarks --smoke startup headless streaming

fleet: $(VENV)/.dev ## run fleets in a minute, on local processes and on Ray if it is installed (ARGS="--tasks 3000")
	@$(BIN)/python -m tests.fleet.rounds $(ARGS)

# The Python of .venv runs all tests, the others that are installed a part. uv sets them up.
pythons: $(VENV)/.dev ## run some tests with the other versions of Python that are installed (needs uv)
	@command -v uv >/dev/null 2>&1 || { echo "Skipped the other versions of Python: uv isn't installed."; exit 0; }; \
	for version in 3.11 3.12 3.13 3.14; do \
		$(BIN)/python -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] == '$$version')" || continue; \
		python=; \
		for candidate in "python$$version" "$${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version".*/bin/python; do \
			"$$candidate" -c '' 2>/dev/null && python="$$candidate" && break; \
		done; \
		test -n "$$python" || { echo "Skipped Python $$version: it isn't installed."; continue; }; \
		echo "Python $$version:"; \
		other="$(VENV)/other-$$version"; \
		uv venv --quiet --allow-existing --python "$$python" "$$other" && \
		uv pip install --quiet --python "$$other/bin/python" -e ".[dev]" || \
			{ echo "Skipped Python $$version: the packages can't be installed."; continue; }; \
		"$$other/bin/pytest" -n $(WORKERS) $(OTHER_PYTHON_TESTS) || exit 1; \
	done

check: $(VENV)/.dev ## check format, lint, types, import contracts and plain language
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/plain_words.py

format: $(VENV)/.dev ## format the code and fix lint automatically
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

screenshots: $(VENV)/.dev ## regenerate screenshots/*.svg and screenshots/tour.cast
	@$(BIN)/python scripts/screenshots.py
	@$(BIN)/python scripts/tour.py

docs: $(VENV)/.dev ## regenerate the configuration reference and the manual page
	@$(BIN)/python scripts/configuration_reference.py
	@$(BIN)/python scripts/man_page.py

dist: $(VENV)/.dev ## build the wheel and the source distribution, install the wheel and run it
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist
	@$(BIN)/python scripts/check_dist.py $(ARGS)

# Without addresses, so that pip and uv use the index that they are configured for.
lock: ## write requirements.txt: tested versions of all dependencies, with hashes (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links pyproject.toml -o requirements.txt
	@sed -i '1i # Tested versions of all dependencies, with hashes. Written by `make lock`.' requirements.txt

clean: ## remove .venv and build output
	rm -rf $(VENV) .peers dist build .mypy_cache .ruff_cache .import_linter_cache

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

$(VENV)/.browser: pyproject.toml $(VENV)/.dev
	$(call install,.[browser])
