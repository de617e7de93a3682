# All commands of the project. Each target installs what it needs. Only Python 3.11 or newer and make must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
# uv trusts the certificates of the system. So it also works behind a proxy that decrypts TLS connections.
export UV_SYSTEM_CERTS ?= true
# Tests start hundreds of Python processes. Each would compile Django again if the environment forbade to keep bytecode.
export PYTHONDONTWRITEBYTECODE :=
PYTEST_WORKERS ?= 4
PYTEST := pytest $(or $(only),-n $(PYTEST_WORKERS) --dist loadgroup)
INSTALL := VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header \
	$(if $(upgrade),--upgrade)
TEMPLATES := find templates -name '*.html' -print0
STATIC_SOURCES := $(shell find static) hub/static_files/bundles.py
PYENV_VERSIONS = $(shell pyenv versions --bare 2>/dev/null | paste -sd : -)  # without it, Pythons of pyenv do not start

# Every command of the hub makes the keys that its data directory lacks. What only builds or checks has a directory of its
# own, so that the folder of the project never holds keys that no data were encrypted with.
$(VENV)/.run types lint: export HUB_DATA_DIR := $(VENV)/data

.PHONY: help run test suite format lint types coverage matrix bench faults mutate audit screenshots hooks lock plotly clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/.run  ## start the whole hub: database, web server, worker; Ctrl-C stops all
	@$(BIN)/python manage.py up

test: $(VENV)/.dev  ## lint, and every test beside it; only=PATH for one file or folder, without lint
	@$(MAKE) --no-print-directory --jobs=2 $(if $(only),,lint) suite

suite: $(if $(only),,$(VENV)/.compiled)
	$(BIN)/python -m $(PYTEST)

# Compile all tests once before the workers of the suite start, because each worker would compile every test for itself.
$(VENV)/.compiled: $(VENV)/.dev
	@$(BIN)/python -m pytest --collect-only -qq >$@.out || { cat $@.out; exit 1; }
	@touch $@

format: $(VENV)/.dev  ## mend style in Python and templates
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(TEMPLATES) | xargs -0 $(BIN)/djade

lint: types  ## style of Python and templates, types, import rules, missing migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(TEMPLATES) | xargs -0 $(BIN)/djade --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/python manage.py makemigrations --check --dry-run

types: $(VENV)/.dev  ## mypy, strict, over the rooms that pyproject.toml names
	$(BIN)/mypy

coverage: $(VENV)/.dev  ## every test, with what it covers and the floor for that; only=PATH without the floor
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report $(if $(only),--fail-under=0)

matrix: $(VENV)/.dev  ## the SDK's tests with each Python and Django at hand; only=ENVIRONMENT for one
	UV_PYTHON_DOWNLOADS=never PYENV_VERSION=$(PYENV_VERSIONS) PYTEST_WORKERS=$(PYTEST_WORKERS) \
		$(BIN)/tox run -c sdk $(if $(only),-e $(only))

bench: $(VENV)/.bench  ## measure; only=NAME for one module of bench/hub or bench/sdk; size=small, full or 100M; json=FILE
	$(BIN)/python -m bench $(only) $(if $(size),--size $(size)) $(if $(json),--json $(json)) $(if $(markdown),--markdown $(markdown))

faults: $(VENV)/.dev  ## kill -9 and other faults under load, then compare with the clients' ledger; kills=200 minutes=60
	$(BIN)/python -m tests.faults --kills $(or $(kills),200) --minutes $(or $(minutes),60) $(if $(seed),--seed $(seed))

mutate: $(VENV)/.mutate  ## change the code that verifies, in one place at a time, and count what the tests notice; only=PATTERN
	$(BIN)/python -m tests.mutants $(only)

audit: $(VENV)/.dev  ## known vulnerabilities of the packages that a hub runs with
	@$(BIN)/python -m tests.audit_dependencies

screenshots: $(VENV)/.dev  ## every page of the sample workspace as an image in docs/screenshots
	@$(BIN)/python -m tests.screenshots

schema: $(VENV)/.dev  ## write the tables of an unused database, as the migrations leave them
	@$(BIN)/python -m tests.first_schema

hooks: $(VENV)/.dev  ## run format and lint before each commit
	$(BIN)/pre-commit install

lock: $(UV)  ## resolve the dependencies of pyproject.toml again; upgrade=1 for newer ones
	$(COMPILE) --group pyproject.toml:installer -o requirements/uv.txt
	$(COMPILE) pyproject.toml -o requirements/run.txt
	$(COMPILE) pyproject.toml --extra redis -c requirements/run.txt -o requirements/redis.txt
	$(COMPILE) pyproject.toml --extra otel -c requirements/run.txt -o requirements/otel.txt
	$(COMPILE) pyproject.toml --group dev --group sdk/pyproject.toml:test --group sdk/pyproject.toml:django -c requirements/redis.txt -c requirements/otel.txt -c requirements/uv.txt -o requirements/dev.txt
	$(COMPILE) --group pyproject.toml:bench -c requirements/dev.txt -o requirements/bench.txt
	$(COMPILE) --group pyproject.toml:mutate --no-emit-package setproctitle -c requirements/dev.txt -o requirements/mutate.txt

plotly:  ## replace plotly.js, from npm; version=4.1.1, that of the package plotly in requirements/dev.txt
	@test -n "$(version)" || { echo "Say which version: make plotly version=4.1.1"; exit 1; }
	npm pack --silent --pack-destination $(VENV) plotly.js-basic-dist-min@$(version)
	tar -xzf $(VENV)/plotly.js-basic-dist-min-$(version).tgz -C static/plotly --strip-components=1 \
		package/plotly-basic.min.js package/LICENSE

clean:  ## remove the environment and caches; data in var/ stays
	rm -rf $(VENV) sdk/.tox sdk/mutants .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(UV): requirements/uv.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Affidavit needs Python 3.11 or newer; call make with PYTHON=python3.11, say")'
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)  # a venv without pip is from a call that was interrupted
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $(UV)

# With the static files: under systemd, the hub cannot write into this folder, so they must be there before it starts.
$(VENV)/.run: $(UV) requirements/run.txt sdk/pyproject.toml sdk/src/affidavit/_version.py $(STATIC_SOURCES)
	@test -e $(VENV)/.dev || $(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps --editable ./sdk
	@$(BIN)/python manage.py build_static
	@touch $@

$(VENV)/.dev: $(UV) requirements/run.txt requirements/dev.txt | $(VENV)/.run
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.dev requirements/bench.txt
	@$(INSTALL) --require-hashes -r requirements/bench.txt
	@touch $@

$(VENV)/.mutate: $(VENV)/.dev requirements/mutate.txt  # without setproctitle, see pyproject.toml
	@$(INSTALL) --no-deps --require-hashes -r requirements/mutate.txt
	@touch $@
