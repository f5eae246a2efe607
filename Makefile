# The doors of the project. `make up` and `make test` set up everything they need on a fresh machine.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: up test test-long mutants proofs check check-python check-console console bench shots format clean
CONSOLE := $(shell find console -path '*/node_modules' -prune -o -type f -print 2>/dev/null) hatch_build.py
NODE := $(BIN)/python hatch_build.py --run

# PORT=8001 listens there instead of at 8000.
up: $(INSTALLED)
	$(BIN)/penstock up $(if $(PORT),--port $(PORT))

# Three at a time also on two cores: much of a test's time is a server's, on a disk.
test: $(READY)
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not long"

# The long ones, in parts of at most half an hour each (tests/long_parts.py); PART=name runs one of them.
test-long: $(READY)
	$(BIN)/python -m tests.long_parts $(PART)

# Breaks lines one at a time, and fails if a test notices one of them not. COUNT of them, for a BUDGET (90s, 30m, 8h);
# what was tried stands while its file and its tests do, so that the next run goes on. SEED chooses others. One that
# nobody notices is tried for FARTHEST (1m), and by the next run on the tests that are left.
mutants: $(READY)
	$(BIN)/python -m mutants $(if $(COUNT),--count $(COUNT)) $(if $(BUDGET),--budget $(BUDGET)) $(if $(SEED),--seed $(SEED)) \
		$(if $(FARTHEST),--farthest $(FARTHEST)) $(if $(AREA),--area "$(AREA)")

# Looks for a mutant that proves each requirement which has none in mutants/proofs.toml yet, and adds it there.
proofs: $(READY)
	$(BIN)/python -m mutants.proofs_found $(FILES)

# Beside each other: either keeps one core busy.
check: $(READY)
	$(MAKE) --no-print-directory --jobs 2 check-python check-console

check-python: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

# The console's types are those of the API as it stands, so that a field which is renamed there is an error here.
check-console: $(READY)
	mkdir -p build
	$(BIN)/python -m penstock.cli.api_document > build/openapi.json
	$(NODE) node_modules/openapi-typescript/bin/cli.js ../build/openapi.json --output src/api/schema.d.ts
	$(NODE) node_modules/svelte-check/bin/svelte-check --fail-on-warnings --output human
	$(NODE) node_modules/eslint/bin/eslint.js . --max-warnings 0
	$(NODE) node_modules/prettier/bin/prettier.cjs --check --log-level warn .
	$(NODE) node_modules/vitest/vitest.mjs run

console: $(INSTALLED)
	$(BIN)/python hatch_build.py

# AGAINST=folder compares with another checkout instead of with peers.
bench: $(READY)
	$(BIN)/python -m bench $(if $(AGAINST),--against $(AGAINST))

# Pictures of every screen of the console, light and dark, with what the five systems have made.
shots: $(READY)
	$(BIN)/python -m tests.browser.shots build/shots

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NODE) node_modules/prettier/bin/prettier.cjs --write --log-level warn .

clean:
	rm -rf $(VENV) console/node_modules src/penstock/web/console build .mypy_cache .ruff_cache .import_linter_cache

# Everything is installed at the versions of the constraints file, whatever is newer today: what runs the service, and
# what also checks and tests it.
$(INSTALLED): pyproject.toml constraints.txt $(CONSOLE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) '.[all]'
	touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(PIP) '.[dev]'
	touch $(READY)
