# make demo   from nothing to a scored report
# make test   lint, types and all quick tests
# Each installs what it needs into a virtual environment of its own, once.

PYTHON ?= python3
VENV := .venv
VENV_KERAS2 := .venv-keras2
BIN := $(VENV)/bin
DEMO_MEASURES := gi_intra_l0,gi_inter_l0,gi_intra_l1,gi_inter_l1,pal_intra_l0,pal_inter_l0,mixup,manifold_mixup
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test test-quick test-rest test-ray test-keras2 lint benchmarks

$(VENV)/ready: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

# TensorFlow 2.15 brings Keras 2; it needs Python 3.9 to 3.11.
$(VENV_KERAS2)/ready: setup.py
	$(PYTHON) -m venv $(VENV_KERAS2)
	$(VENV_KERAS2)/bin/pip install --quiet --upgrade pip
	$(VENV_KERAS2)/bin/pip install --quiet 'tensorflow==2.15.*' scipy absl-py pytest pytest-xdist hypothesis pyyaml pillow
	touch $@

# Every step takes up what the last demo left, so that a second run takes seconds.
demo: $(VENV)/ready
	$(BIN)/pgdl zoo build --data digits --grid digits -o demo/zoo
	$(BIN)/pgdl check demo/zoo --accuracy
	$(BIN)/pgdl run demo/zoo -m $(DEMO_MEASURES) --set batches=30 -o demo/out
	$(BIN)/pgdl table demo/out
	$(BIN)/pgdl report demo/out -o demo/report.html

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint test-quick test-rest

# Those that take seconds, without TensorFlow.
QUICK := tests/test_imports.py tests/scoring tests/robust
test-quick: $(VENV)/ready
	$(BIN)/pytest -q $(QUICK)

test-rest: $(VENV)/ready
	$(BIN)/pytest -q -n 2 --dist loadfile $(QUICK:%=--ignore=%)

# A Ray cluster of two nodes on this machine, one of which is removed while it works.
test-ray: $(VENV)/ready
	$(BIN)/pytest -q -m slow tests/run/test_run_ray.py

test-keras2: $(VENV_KERAS2)/ready
	$(VENV_KERAS2)/bin/python -m pytest -q -n 2 --dist loadfile -m 'keras2 and not slow'

# Without the comparison with the winners' programs, which are not in this repository.
benchmarks: $(VENV)/ready
	for b in $(filter-out %/podium.py,$(wildcard benchmarks/*.py)); do $(BIN)/python $$b || exit 1; done
