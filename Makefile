# `make` lists the targets; a target without a `##` is none of the user's business.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
FUZZ ?= 20
SEED ?= 1
COUNT ?= 50
CASES ?= B1 B2 S10
READY := $(VENV)/.aclkit-ready
SETUP_LOG := $(VENV)/setup.log

# The first Python that is new enough and can make an environment; PYTHON=… overrides.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

.PHONY: help setup demo docs test test-docs test-all test-fast coverage mutation fuzz bench bench-full \
	bench-cold bench-answers bench-scale bench-watch bench-spark broker-test cluster-test object-store-test container-test soak \
	wheel-test spark-versions lint types imports check fmt lock build release-check deploy-check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv with everything in it, and fetch the jars; quick the second time
	@echo "$(VENV) is ready"

demo: $(READY) ## Run everything once on the packaged sample of a cluster
	@$(BIN)/aclkit demo

docs: $(READY) ## Make a site of README and docs/ in build/site, every link checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet -f docs/site/mkdocs.yml
	@echo "build/site/index.html"

# Compiled tests are kept, whatever the shell asks for: compiling them takes half a minute.
test test-all test-fast: export PYTHONDONTWRITEBYTECODE :=

test: $(READY) ## Run the tests, those marked slow aside
	@$(BIN)/pytest -n 2 --dist loadgroup -m "not slow and not object_store"

test-docs: $(READY) ## Run what README, docs/ and the notebooks show
	@$(BIN)/pytest tests/test_docs.py tests/test_notebooks.py

# The tests of a bucket want a Spark session of their own, and have a target of theirs.
test-all: $(READY) ## Run all tests, kills and documentation too (about twice as long)
	@$(BIN)/pytest -m "not object_store"

test-fast: $(READY) ## Run the tests that need no Spark
	@$(BIN)/pytest -n 2 -m "not spark and not object_store"

coverage: $(READY) ## Say which lines and branches the tests run, those marked slow aside
	@$(BIN)/pytest -q -n 2 -m "not slow and not spark and not kafka and not object_store" --cov --cov-report=
	@$(BIN)/pytest -q -m "not slow and not object_store and (spark or kafka)" --cov --cov-append

mutation: $(READY) ## Make small mistakes in the code, drawn by SEED, and see which no test finds; COUNT=N
	@$(BIN)/python -m tests.tools.mutation --seed $(SEED) --count $(COUNT)

fuzz: $(READY) ## Try twenty times as many broken files as the tests do (some ten minutes); FUZZ=N for N
	@ACLKIT_FUZZ=$(FUZZ) $(BIN)/pytest -n 2 --timeout 1200 tests/fuzz

bench: $(READY) ## Measure deciding 80 million accesses, against Kafka's own loop (3 minutes)
	@$(BIN)/python -m tests.tools.benchmarks --quick

bench-full: $(READY) ## Measure everything, and compare a million random decisions with Kafka's
	@$(BIN)/python -m tests.tools.benchmarks --full
	@$(BIN)/python -m tests.tools.benchmarks.differential --decisions 1000000 --seed 1

bench-cold: $(READY) ## Measure what starts cold, five times each; AGAINST=FOLDER for pairs (forty minutes)
	@$(MAKE) --no-print-directory bench-answers
	@$(BIN)/python -m tests.tools.benchmarks.cold $(if $(AGAINST),--against $(AGAINST))

bench-answers: $(READY) ## Measure cold answers in pairs with the import of their libraries; AGAINST=FOLDER
	@$(BIN)/python -m tests.tools.benchmarks.cold_answers $(if $(AGAINST),--against $(AGAINST))

bench-scale: $(READY) ## Measure large runs, each anew; CASES="S30 S100", DOCS=1 writes docs/speed.md
	@$(BIN)/python -m tests.tools.benchmarks.scale $(CASES) $(if $(DOCS),--docs)

bench-watch: $(READY) ## Poll for a day by a clock of its own, and change a large cluster (5 minutes)
	@$(BIN)/python -m tests.tools.benchmarks.watch_day

bench-spark: $(READY) ## Measure the nightly job by spark-submit; AGAINST=FOLDER for pairs (5 minutes)
	@$(BIN)/python -m tests.tools.benchmarks.submitted $(if $(AGAINST),--against $(AGAINST))

broker-test: $(READY) ## Compare with a real Kafka broker on loopback, from Maven jars (10 minutes)
	@$(BIN)/python -m tests.tools.broker

cluster-test: build ## Submit the jobs to a Spark cluster, kill a worker and a driver (15 minutes)
	@$(BIN)/python -m tests.tools.cluster

object-store-test: $(READY) ## Run commands on a bucket of this machine, with faults, and on Azurite (12 minutes)
	@npm install --silent --no-audit --no-fund --prefix build/azurite azurite@3.35.0 || \
		echo "Without npm Azurite is left out: Azure's blobs are not tried."
	@$(BIN)/pytest -n 2 --dist loadgroup tests/object_store

container-test: ## Install as the Dockerfile does, in a chroot, and run it as nobody (root; 15 minutes)
	@timeout 2400 sh conf/ci/container_test.sh

deploy-check: $(READY) ## Check conf/schedule with Airflow, kubeconform (needs Go) and Databricks' classes
	@$(BIN)/python -m tests.tools.deploy

soak: $(READY) ## Kill the nightly run at 20 random moments, and start it again (half an hour)
	@$(BIN)/python -m tests.tools.soak --rounds 20

lint: $(READY) ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## Check types
	@$(BIN)/mypy

imports: $(READY) ## Check which module imports which
	@$(BIN)/lint-imports

check: lint types imports test ## Everything that a change must pass

fmt: $(READY) ## Put the code into its format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

LOCK := $(BIN)/python -m uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

lock: $(READY) ## Write conf/*.lock anew: the newest versions that pyproject.toml admits
	@$(LOCK) pyproject.toml --all-extras -o conf/requirements.lock
	@$(LOCK) conf/requirements-build.txt -o conf/requirements-build.lock
	@$(LOCK) conf/requirements-slim.txt -c conf/requirements.lock -o conf/requirements-slim.lock
	@$(LOCK) pyproject.toml --extra codecs --extra serve --extra x500 -c conf/requirements.lock \
		-o conf/requirements-full.lock

build: $(READY) ## Make the wheel, and the same as a zip for spark-submit --py-files
	@rm -rf dist
	@$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .
	@for wheel in dist/aclkit-*.whl; do cp "$$wheel" "$${wheel%-py3-none-any.whl}.zip"; done
	@ls dist

wheel-test: build ## Install the wheel alone and run a night, Spark, serve and mcp on ten records (3 minutes)
	@$(BIN)/python -m tests.tools.wheel

spark-versions: build ## Run docs/spark.md with pyspark 4.1.0 and 4.2.0, classic and Connect (20 minutes)
	@$(BIN)/python -m tests.tools.spark_versions

release-check: $(READY) ## Make a release of what is committed, twice, and try it with every Python (3 minutes)
	@$(BIN)/python -m tests.tools.release

clean: ## Remove what was built and cached; .venv stays
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

# Last of all the stamp, so that a set-up that broke off is taken up again.
$(READY): pyproject.toml aclkit/runtime/jars.py aclkit/kafka/verify/jars.py
	@if [ -z "$(PYTHON)" ]; then \
		echo "Error: no Python 3.11 or newer that can make a virtual environment; install one," \
			"on Debian or Ubuntu with: apt-get install python3 python3-venv" >&2; exit 4; fi
	@echo "==> making $(VENV) with $(PYTHON)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "==> installing aclkit and its tools (some minutes the first time: Spark is large)"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-input --progress-bar off \
		-e '.[dev]' >$(SETUP_LOG) 2>&1 || { tail -n 5 $(SETUP_LOG) >&2; \
		echo "Error: pip failed; all that it said is in $(SETUP_LOG)" >&2; exit 4; }
	@if PYTHONDONTWRITEBYTECODE=1 $(BIN)/python -m aclkit.runtime.environment; then \
		echo "==> fetching the jars of Delta and Kafka"; \
		$(BIN)/aclkit jars delta && $(BIN)/aclkit jars kafka; \
	else echo "Without Java these are left out: Spark (--decide-with spark, usage, very large" \
		"logs), verify, and the tests that need them. Run make setup again with Java 17."; fi
	@touch $@
