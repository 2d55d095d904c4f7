# make demo    a sample repository, harvested and shown in the browser   (ARGS=--no-serve: without)
# make test    every kind of test, five minutes             (ARGS=tests/recordsilo: of one package)
# make test-all  these and all others that CI runs: 23 minutes
# make fuzz    mutated inputs for everything that takes bytes from outside (ARGS="--seconds 3600 pages")
# make lock    requirements.lock anew: the newest versions within the bounds, with hashes
# make slow    what takes longer than a test suite should: three hours or so
# make torture       of it, 2,000 writers killed at work          (KILLS=10000: so many)
# make power-cuts    of it, the power cut 100 times for each grade and mode (CUTS=500; needs root)
# make faults  what harvesters bring home from a repository that misbehaves (ARGS="FAULT …": only those)
# make fedora  a real Fedora 6.0.0 on loopback to try the export with, until Ctrl-C (Maven, Java 17)
# make swh-deposit  a real server of SWORDv2 for `make slow` (PyPI; PostgreSQL of the system)
# make bench   what the store costs beside the bare cost of the same work
# make check   ruff, mypy --strict, import-linter, spelling
# make site    the website of docs/, in site/; a link that leads nowhere is an error
# make release a tagged commit built, checked, and tried on each Python, into dist/; uploads nothing
#                                                                     (ARGS=--rehearse: without a tag)

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=
KILLS  ?= 2000
FEDORA ?= $(HOME)/.cache/recordsilo-fedora
SWH_DEPOSIT_FILES ?= $(HOME)/.cache/recordsilo-swh-deposit
CUTS   ?= 100

TORTURE := tests/recordsilo/torture
PYTEST  := $(BIN)/python -m pytest --dist worksteal

# Tests start hundreds of Python processes: without cached bytecode each compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

# By uv, which needs a quarter of the time; by pip where uv is not to be had or cannot do it.
# Modules are compiled at once, as by pip: tests turn what compiling them warns of into errors.
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9,<1" 2>/dev/null && \
  $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable "$(1)" 2>/dev/null || \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --editable "$(1)"

.PHONY: demo test test-all fuzz lock slow torture power-cuts faults fedora swh-deposit bench check site release format clean

demo: $(VENV)/.installed
	$(BIN)/silo demo $(ARGS) ./myrepo

test: $(VENV)/.installed-dev
	$(PYTEST) -n 3 -m "not slow and not long" $(ARGS)

test-all: $(VENV)/.installed-dev
	$(PYTEST) -n 3 -m "not slow" --hypothesis-profile=ci $(ARGS)

fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests/fuzz:tests/oaipmhscraper $(BIN)/python -m fuzzing $(ARGS)

lock: $(VENV)/.installed-dev $(BIN)/uv
	$(BIN)/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  --extra amqp --extra crawl --extra fleet --extra kafka --extra rdf --extra render --extra s3 --extra sftp --extra usage \
	  --output-file requirements.lock pyproject.toml

slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow --timeout 7200 $(ARGS)

torture: $(VENV)/.installed-dev
	KILLS=$(KILLS) $(BIN)/python -m pytest -m slow -s $(TORTURE)/test_kills.py $(ARGS)

power-cuts: $(VENV)/.installed-dev
	CUTS=$(CUTS) $(BIN)/python -m pytest -m slow -s $(TORTURE)/test_power_cuts.py $(ARGS)

faults: $(VENV)/.installed-dev
	python3 tests/oaipmhscraper/real_servers/install.py $(VENV)/servers
	$(BIN)/python benchmarks/faults.py $(ARGS)

fedora: $(VENV)/.installed
	$(BIN)/python tests/siloexport/fedora/real_fedora.py run $(FEDORA) $(ARGS)

swh-deposit:
	$(PYTHON) -m venv $(SWH_DEPOSIT_FILES)
	$(SWH_DEPOSIT_FILES)/bin/pip install --quiet --disable-pip-version-check \
	  "swh.deposit[server]==3.0.1" psycopg2-binary

bench: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ocfl-py==2.1.0
	$(BIN)/python benchmarks/bench.py $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PYTHONPATH=tools $(BIN)/python -m spelling

site: $(VENV)/.installed-dev
	PYTHONPATH=tools $(BIN)/python -m website

release: $(VENV)/.installed $(BIN)/uv
	PYTHONPATH=tools $(BIN)/python -m release $(ARGS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing into $(VENV): this takes up to a minute and prints nothing else."
	@$(call install,.)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	@echo "Installing into $(VENV): this takes up to a minute and prints nothing else."
	@$(call install,.[dev])
	@touch $@ $(VENV)/.installed

$(BIN)/uv:
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9,<1"

clean:
	rm -rf $(VENV) build dist site *.egg-info
