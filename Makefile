# One door for everything; each target sets up what it needs. Only Python >= 3.11 and make are taken for granted.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
LOCKS := requirements/run.txt requirements/dev.txt requirements/uv.txt
PYTEST_WORKERS ?= 2

.PHONY: help run test lint types bench lock clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/.run  ## start the whole hub: database, web server, worker; Ctrl-C stops all
	@$(BIN)/python manage.py up

test: lint  ## lint, types, import rules, missing migrations, every test
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup

lint: types  ## style, types, import rules, missing migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python manage.py makemigrations --check --dry-run

types: $(VENV)/.dev  ## mypy, strict, over the rooms that pyproject.toml names
	$(BIN)/mypy

bench: $(VENV)/.dev  ## measure; only=NAME for one module of bench/
	$(BIN)/python -m bench $(only)

lock:  ## resolve the dependencies of pyproject.toml again
	$(UV) pip compile -q pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements/run.txt
	$(UV) pip compile -q pyproject.toml --group dev -c requirements/run.txt --universal --generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements/dev.txt

clean:  ## remove the environment and caches; data in var/ stays
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(UV): requirements/uv.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Affidavit needs Python 3.11 or newer; call make with PYTHON=python3.11, say")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $(UV)

$(VENV)/.run: $(UV) requirements/run.txt sdk/pyproject.toml
	@test -e $(VENV)/.dev || VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --require-hashes -r requirements/run.txt
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --no-deps --editable ./sdk
	@touch $@

$(VENV)/.dev: $(UV) requirements/dev.txt $(VENV)/.run
	@VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@
