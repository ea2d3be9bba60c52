# `make demo` and `make test` are all the set-up there is: each makes .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export RAY_USAGE_STATS_ENABLED := 0
export MLFLOW_DISABLE_TELEMETRY := true
# setuptools warns at every editable install that folders have names, which nothing can be done about.
EDITABLE := PYTHONWARNINGS='ignore:Editable installation' $(BIN)/python -m pip install --quiet \
	--constraint constraints.txt --editable

.PHONY: demo test lint types layers tests slow kills browser audit coverage benchmarks docs clean

demo: $(VENV)/installed
	$(BIN)/setsweep run demo
	@echo
	@echo "Browse the same numbers in MLflow:   $(BIN)/setsweep ui"
	@echo "Tables and figures on disk:          setsweep-results/demo/report/"
	@echo "More studies:                        $(BIN)/setsweep studies"

test: $(VENV)/tested lint types layers tests

# Versions that have been tested together stand in constraints.txt; pyproject.toml has the lower bounds.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(EDITABLE) .
	touch $@

$(VENV)/tested: $(VENV)/installed
	$(EDITABLE) '.[test]'
	touch $@

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy does not follow the names that the folders are installed by: for it, links that have those names.
.links/setsweep:
	mkdir -p $@
	for folder in losses data trainables sweeps; do ln -sfn ../../$$folder $@/$$folder; done

types: $(VENV)/tested .links/setsweep
	$(BIN)/mypy

layers: $(VENV)/tested
	$(BIN)/lint-imports

tests: $(VENV)/tested
	$(BIN)/pytest -n auto --dist loadfile

# The reference of fields follows from the declared rows; a test holds it to them.
docs: $(VENV)/installed
	$(BIN)/setsweep fields --markdown > sweeps/FIELDS.md

slow: $(VENV)/tested
	$(BIN)/pytest -m slow

kills: $(VENV)/tested
	$(BIN)/pytest -m kills

browser: $(VENV)/tested
	$(BIN)/pytest -m browser

# Known holes of the pinned versions, by OSV's database; where that can't be asked, the audit is skipped and says so.
audit: $(VENV)/installed
	@if $(BIN)/python -c "import socket; socket.create_connection(('api.osv.dev', 443), 5)" 2>/dev/null; then \
		$(EDITABLE) '.[audit]' && \
		$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip --vulnerability-service osv; \
	else echo "audit: skipped, as api.osv.dev does not answer from here."; fi

coverage: $(VENV)/tested
	$(BIN)/pytest --cov --cov-report=term-missing:skip-covered

benchmarks: $(VENV)/tested
	$(BIN)/python tests/benchmarks/sweep/compare.py efficiency
	$(BIN)/python tests/benchmarks/sweep/compare.py bookkeeping
	$(BIN)/python tests/benchmarks/sweep/start.py
	$(BIN)/python tests/benchmarks/sweep/sharing.py
	$(BIN)/python tests/benchmarks/sweep/joining.py
	$(BIN)/python tests/benchmarks/sweep/scale.py sweep
	$(BIN)/python tests/benchmarks/sweep/scale.py files
	$(BIN)/python tests/benchmarks/sweep/many_slots.py
	$(BIN)/python tests/benchmarks/losses/speed.py
	$(BIN)/python tests/benchmarks/losses/thresholds.py
	$(BIN)/python tests/benchmarks/data/feed.py
	$(BIN)/python tests/benchmarks/data/decoding.py
	$(BIN)/python tests/benchmarks/data/memory.py
	$(BIN)/python tests/benchmarks/trainables/seeds.py
	$(BIN)/python tests/benchmarks/search/compare.py race --repetitions 100
	$(BIN)/python tests/benchmarks/statistics/coverage.py
	$(BIN)/python tests/benchmarks/statistics/reports.py
	$(BIN)/python tests/benchmarks/trainables/rescore.py
	$(BIN)/python tests/benchmarks/trainables/epoch.py share
	$(BIN)/python tests/benchmarks/trainables/epoch.py tutorial

clean:
	rm -rf $(VENV) .links build *.egg-info
