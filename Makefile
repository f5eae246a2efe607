# The doors of the project. `make up` and `make test` set up everything they need on a fresh machine.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: up test test-long check bench format clean

up: $(INSTALLED)
	$(BIN)/penstock up

# Three at a time also on two cores: much of a test's time is a server's, on a disk.
test: $(READY)
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not long"

test-long: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

# AGAINST=folder compares with another checkout instead of with peers.
bench: $(READY)
	$(BIN)/python -m bench $(if $(AGAINST),--against $(AGAINST))

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .import_linter_cache

# Everything is installed at the versions of the constraints file, whatever is newer today: what runs the service, and
# what also checks and tests it.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) '.[all]'
	touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(PIP) '.[dev]'
	touch $(READY)
