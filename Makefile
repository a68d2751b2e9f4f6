# Needs python3 (3.11 or newer, with venv) and make; everything else comes into .venv.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help install demo serve test soak browser lint types docs lock clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

install: $(STAMP)  ## Make .venv from requirements.lock (reused while that is unchanged)
	@echo "$(VENV) is ready."

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	@test -e $(STAMP) || { echo "Making $(VENV) …"; $(PYTHON) -m venv --clear $(VENV); }
	@echo "Installing requirements.lock into $(VENV) (a minute or two the first time) …"
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps -r requirements.lock
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP)  ## Real conversations remembered, indexed by a worker and recalled
	@$(BIN)/python -m example_project.demo

serve: $(STAMP)  ## The example site with a worker and beat; PORT=8000, Ctrl-C stops all
	@exec $(BIN)/python -m example_project.serve --port $(PORT)

test: $(STAMP) browser  ## Lint, import contracts, types, and the tests with branch coverage
	@$(BIN)/python -m example_project.embedded run --name test -- $(BIN)/nox

soak: $(STAMP)  ## Killed workers and servers, and properties on twenty times the examples
	@$(BIN)/python -m example_project.embedded run --name test -- $(BIN)/nox -s soak

browser: $(STAMP)  ## Chromium for the browser tests, by apt where that is allowed
	@$(BIN)/python -m tests.browser.chromium

lint: $(STAMP)  ## Style, format, import contracts, migrations and system checks
	@$(BIN)/python -m example_project.embedded run --name test -- $(BIN)/nox -s lint

types: $(STAMP)  ## mypy, strict
	@$(BIN)/nox -s types

docs: $(STAMP)  ## Write docs/settings.md and docs/openapi.yaml anew, from the code
	@$(BIN)/python -m docs.generate
	@$(BIN)/python manage.py spectacular --validate --fail-on-warn \
		--urlconf prism_memory.api.urls \
		--generator-class prism_memory.api.openapi.Generator --file docs/openapi.yaml

lock: $(STAMP)  ## Resolve requirements.lock anew, for Python 3.11 to 3.14
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet uv
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--extra api --extra celery --extra embedded --extra files --extra minilm --extra openai \
		--extra metrics --extra otel \
		--group pyproject.toml:dev --no-emit-index-url --annotation-style line \
		--custom-compile-command "make lock" \
		--output-file requirements.lock pyproject.toml

clean:  ## Stop this checkout's servers and remove everything that was made
	@if test -e $(STAMP); then $(BIN)/python -m example_project.embedded remove; fi
	@rm -rf $(VENV) .prism .nox .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@rm -rf .coverage .coverage.* htmlcov build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
