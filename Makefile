# Two commands matter: `make book` and `make test`. Both set the machine up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# long tests are left out, except on CI and where all are asked for (tests/long.py)
LONG := $(if $(CI)$(filter --all,$(ARGS)),,and not long)

.DEFAULT_GOAL := help
.PHONY: help setup book test check lint types unit notebooks strict browser online stages portable mutants sharpness bench coursework release wheels offline lowest versions newest alone lock clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(READY) ## Create .venv from requirements.lock and install the package

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else f"marginbook needs Python 3.11 or newer, this is {v[0]}.{v[1]}; call: make PYTHON=python3.12 ...")'
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV): locked packages, then marginbook (about a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

book: $(READY) ## Fetch data, execute all notebooks, compile the book to _build/html
	@$(BIN)/marginbook data fetch --registries-only || echo "going on: a notebook that needs one of these will say so"
	@$(BIN)/marginbook book

test: $(READY) lint ## Lint, types, unit tests, notebooks, strict book build, browser
	@$(MAKE) --no-print-directory -j2 types unit  # the first mypy takes a minute of one core
	@$(MAKE) --no-print-directory notebooks strict browser

check: $(READY) ## In under a minute: lint, types, and the tests that what you changed can touch
	@$(BIN)/python supply/check.py $(ARGS)

lint: $(READY) ## Lint and check the formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check the types of src/
	$(BIN)/mypy

unit: $(READY) ## Unit tests, on CI and with ARGS=--all the long ones, too
	@$(BIN)/marginbook data fetch --registries-only
	$(BIN)/python -m pytest -n 2 --dist worksteal -rfEs --durations=25 -m "not browser and not urls $(LONG)" --doctest-modules src tests

notebooks: $(READY) ## The stored outputs of the notebooks come out again (nbval, strict); ARGS=--all: all of them
	@$(BIN)/marginbook data fetch --registries-only
	@$(BIN)/python supply/compared.py $(ARGS)

strict: $(READY) ## Compile the book from the stored notebooks; any warning fails
	@$(BIN)/marginbook book --strict --no-execute

browser: $(READY) ## Look through the built book with Chromium, on CI and with ARGS=--all with the long tests
	$(BIN)/python -m pytest -n 2 -rfEs --dist worksteal -m "browser $(LONG)" tests/book tests/serve

online: $(READY) ## What needs data that only URLs give (from the network, or MARGINBOOK_MIRROR=DIR): fetch, verify, test
	@$(BIN)/marginbook data fetch || echo "going on: tests of these sets are skipped, and say so"
	@$(BIN)/marginbook data verify
	@$(BIN)/python supply/only_urls.py
	$(BIN)/python -m pytest -n 2 -rfEs -m urls tests

stages: $(READY) ## Time book, test, its stages and check; the book shows the table
	@$(BIN)/python supply/stages.py $(ARGS)

mutants: $(READY) ## Small errors in the code, each against the tests that reach it; stopped, it goes on (hours)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps cosmic-ray==8.7.0
	@$(BIN)/python supply/mutants.py $(ARGS)

sharpness: $(READY) ## Let the rivals of all claims meet their checks; the ledger shows which were refuted (minutes)
	@mkdir -p results/claims _build
	@$(BIN)/marginbook claims --sharpness --csv > _build/sharpness.csv && mv _build/sharpness.csv results/claims/sharpness.csv

bench: $(READY) ## Time our solvers beside their peers, all or PAPER=smm; stopped, it goes on where it was
	@$(BIN)/python benchmarks $(or $(PAPER),$(ROOM)) $(ARGS)

coursework: $(READY) ## Write the problem sets for students and instructors to _build/coursework
	@$(BIN)/marginbook coursework

release: $(READY) ## Write wheel, source, book, problem sets and list of packages with checksums to dist
	@$(BIN)/marginbook coursework
	@$(BIN)/python -m marginbook.book.release

wheels: $(READY) ## Download to _build/wheels all packages that book and test need, for a machine without a network
	@$(BIN)/python supply/wheels.py

offline: $(READY) ## book and test from an archive of the commit, with what make wheels got, without git and network (Linux)
	@$(BIN)/python supply/offline.py $(ARGS)

lowest: ## Unit tests with the oldest versions that pyproject.toml allows
	$(PYTHON) supply/unit_tests.py --lock requirements-lowest.lock

versions: ## Unit tests in an environment of its own; make versions PYTHON=python3.13
	$(PYTHON) supply/unit_tests.py

newest: ## A sample of the stored results with the newest packages of today; make newest PYTHON=python3.13
	$(PYTHON) supply/newest.py $(ARGS)

alone: $(READY) ## Tests of what fits and predicts, from a wheel with nothing but its core dependencies
	@$(BIN)/python supply/wheel_alone.py $(ARGS)

portable: $(READY) ## Unit tests and notebooks as other processors compute them; stopped, it goes on (hours)
	@$(BIN)/python supply/portable.py $(ARGS)

lock: ## Resolve pyproject.toml again into the locks, environment.yml and the list of licences
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: uv
	@$(BIN)/uv pip compile --quiet --universal --only-binary :all: --python-version 3.11 --generate-hashes --no-header --extra test pyproject.toml --output-file requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --only-binary :all: --python-version 3.11 --generate-hashes --no-header --extra test --resolution lowest-direct pyproject.toml --output-file requirements-lowest.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements.lock
	@$(BIN)/python tests/test_environment.py > environment.yml
	@$(BIN)/python supply/licences.py
	@rm -f $(READY)

clean: ## Delete what can be built again (the data cache and .venv stay)
	rm -rf _build
