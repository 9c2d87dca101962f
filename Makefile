# make demo   from nothing to a scored report
# make test   lint, types and all quick tests
# Each installs what it needs into a virtual environment of its own, once.

PYTHON ?= python3
VENV := .venv
VENV_KERAS2 := .venv-keras2
BIN := $(VENV)/bin
export TF_CPP_MIN_LOG_LEVEL ?= 3
export TF_ENABLE_ONEDNN_OPTS ?= 1

.PHONY: demo test test-keras2 lint benchmarks

$(VENV)/ready: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

# TensorFlow 2.15 brings Keras 2; it needs Python 3.9 to 3.11.
$(VENV_KERAS2)/ready: setup.py
	$(PYTHON) -m venv $(VENV_KERAS2)
	$(VENV_KERAS2)/bin/pip install --quiet --upgrade pip
	$(VENV_KERAS2)/bin/pip install --quiet 'tensorflow==2.15.*' scipy absl-py pytest
	touch $@

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(VENV)/ready lint
	$(BIN)/pytest -q

test-keras2: $(VENV_KERAS2)/ready
	$(VENV_KERAS2)/bin/python -m pytest -q -m keras2

benchmarks: $(VENV)/ready
	for b in benchmarks/*.py; do $(BIN)/python $$b || exit 1; done
