# `make run` on a fresh machine sets everything up (in .venv) and starts Brain. Needs Python 3.11, nothing else.

PYTHON := .venv/bin/python
SETUP := sh deploy/setup.sh
PYTEST := $(PYTHON) -m pytest -n 2

.PHONY: run demo setup test test-full check lock bench

run:
	@$(SETUP) && exec $(PYTHON) manage.py up

demo:  # fills the running Brain with an invented company and asks it three questions
	@$(SETUP) && exec $(PYTHON) manage.py demo

setup:
	@$(SETUP)

test:
	@$(SETUP) --dev && exec $(PYTEST) -m "not full"

test-full:  # what the quick tests leave out; status 5: there is nothing of that kind
	@$(SETUP) --dev && { $(PYTEST) -m full || [ $$? -eq 5 ]; }

check:
	@$(SETUP) --dev
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	.venv/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url pyproject.toml -o requirements.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

bench:  # ARGS="--data DIR": how well and how cheaply memories are found, see docs/benchmarks.md
	@$(SETUP) && exec $(PYTHON) -m benchmarks.installation benchmarks.everything $(ARGS)
