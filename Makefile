# make demo and make test need only Python 3.11 or newer and pip: they make .venv themselves.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet install --constraint constraints.txt

.PHONY: demo test check bench docs format clean

demo: .venv/.demo          ## build a corpus of your own, rewrite a sentence in every style, and score it
	$(BIN)/python examples/demo.py

test: .venv/.dev           ## the whole test suite; RESTYLE_DATA=… adds the tests on real corpora
	$(BIN)/restyle models fetch lid176 spacy-md minilm-l6 smollm2-135m
	$(BIN)/pytest -n 2 --dist loadfile

check: .venv/.dev          ## style, types, the rooms, and that the generated docs are current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

bench: .venv/.dev          ## every performance claim, peers beside us in the same run
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

docs: .venv/.dev           ## write the generated pages again
	$(BIN)/python docs/generate.py

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/bin/pip:
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/pip pyproject.toml constraints.txt
	$(PIP) --editable '.[local,text,judge]'
	touch $@

.venv/.dev: .venv/bin/pip pyproject.toml constraints.txt
	$(PIP) --editable '.[local,text,judge,parquet,plot,study,postgres,ray,dev]'
	touch $@
