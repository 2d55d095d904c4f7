# make demo    a sample repository, harvested and shown in the browser   (ARGS=--no-serve: without)
# make test    the whole test suite
# make slow    what takes longer than a test suite should
# make bench   what the store costs beside the bare cost of the same work
# make check   ruff, mypy --strict, import-linter

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

.PHONY: demo test slow bench check format clean

demo: $(VENV)/.installed
	$(BIN)/silo demo $(ARGS) ./myrepo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 -m "not slow" $(ARGS)

slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow --timeout 7200 $(ARGS)

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/store.py $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build *.egg-info
