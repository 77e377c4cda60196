# Every target makes .venv and installs what it needs by itself.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BENCH := .venv-bench
DOCS := .venv-docs

.PHONY: demo docs browser test test-sklearn test-every test-cluster test-oldest test-peers check-proofs lint papers bench-kernels bench-speedup bench-small-lambda bench-auto bench-drop-in bench-roofline bench-scaling bench-threads bench-out-of-core bench-cluster bench-cluster-rounds bench-migrating bench-users bench bench-full clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# The report page is tried in a real browser: Debian's, installed here if root may do that.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
	chromium fonts-dejavu-core >/dev/null; } || \
	echo "No Chromium, and no way to install it here: tests in a browser will be skipped."

test: $(READY) browser
	$(BIN)/pytest -n 2 --dist loadfile --cov --cov-report=term
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 tests/compile/test_plain_python.py

# The site, in docs/_build/html: runs all examples, all doctests, and what tables of pages say.
docs: $(DOCS)/.ready
	$(DOCS)/bin/pytest -m docs tests/docs/test_docs.py tests/docs/test_migrating.py
	$(DOCS)/bin/sphinx-build -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(DOCS)/bin/sphinx-build -W --keep-going -b doctest -d docs/_build/doctrees docs docs/_build/doctest

# scikit-learn's own tests of linear models, with dualgap's classes in the place of its own.
test-sklearn: $(READY)
	$(BIN)/python tests/drop_in/run.py

# Each method on each loss and penalty that it accepts, of which ``test`` makes a selection.
test-every: $(READY)
	DUALGAP_EVERY=1 $(BIN)/pytest -n 2 tests/steps/test_every_method.py tests/steps/test_rivals.py

# Real processes that fail, and gigabytes on disk: many minutes, and room for several GB.
test-cluster: $(READY)
	$(BIN)/pytest -m cluster

# The core under the oldest versions that are supported: the lower bounds of pyproject.toml.
OLDEST := .venv-oldest
test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/pytest -n 2 --dist loadfile tests/problem tests/linalg tests/losses tests/penalties tests/run \
	tests/proof/test_certificate.py tests/proof/test_exact_certificates.py tests/files tests/cli \
	tests/estimators/test_check_estimator.py tests/estimators/test_estimators.py

$(OLDEST)/.ready: pyproject.toml tools/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --upgrade pip
	$(OLDEST)/bin/pip install --quiet --editable '.[plot,parquet]' -c tools/oldest.txt \
	pytest pytest-xdist hypothesis cvxpy pandas
	touch $@

# ``certify`` on models of other libraries, also of those that need a compiler or an older Python.
test-peers: $(BENCH)/.ready
	$(BENCH)/bin/pytest -rs tests/estimators/test_certify_peers.py

# 3,000 random problems whose certificates dgcheck has to verify.
check-proofs: $(READY)
	$(BIN)/python tools/check_proofs.py --problems 3000

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The experiments and the claims of the papers: up to two hours; goes on where it was broken off.
papers: $(READY)
	$(BIN)/dualgap reproduce all
	$(BIN)/dualgap reproduce --check

bench-kernels: $(READY)
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.iterations

bench-speedup: $(READY)
	$(BIN)/python -m benchmarks.speedup

bench-small-lambda: $(READY)
	$(BIN)/python -m benchmarks.small_lambda

bench-auto: $(READY)
	$(BIN)/python -m benchmarks.auto_regret

bench-drop-in: $(READY)
	$(BIN)/python -m benchmarks.drop_in

bench-roofline: $(READY)
	$(BIN)/python -m benchmarks.roofline

bench-scaling: $(READY)
	$(BIN)/python -m benchmarks.scaling

bench-threads: $(READY)
	$(BIN)/python -m benchmarks.threads

# Needs 15 GB on disk for a while.
bench-out-of-core: $(READY)
	$(BIN)/python -m benchmarks.out_of_core

bench-cluster-rounds: $(READY)
	$(BIN)/python -m benchmarks.cluster.rounds

bench-cluster: $(READY)
	$(BIN)/python -m benchmarks.cluster
	$(BIN)/mpiexec -n 2 $(BIN)/python -m mpi4py -m benchmarks.cluster.mpi

# The tables of docs/migrating.md for liblinear and celer.
bench-migrating: $(BENCH)/.ready
	$(BENCH)/bin/pytest -m docs tests/docs/test_migrating.py -k 'liblinear or celer'

# Estimators as users call them, against those of other libraries: twenty minutes.
bench-users: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks.users --fresh --out docs/benchmarks-users.json
	$(BENCH)/bin/python -m benchmarks.users.report docs/benchmarks-users.json

# The race against other solvers, in an environment of its own, since their pins are old.
# The quick set takes ten minutes, all tasks a night; both need the data sets (docs/benchmarks.md).
bench: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks.peers --quick --out bench-quick.json

bench-full: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks.peers --fresh --out docs/benchmarks.json
	$(BENCH)/bin/python -m benchmarks.peers.report docs/benchmarks.json

$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --upgrade pip
	$(BENCH)/bin/pip install --quiet --editable '.[bench]'
	touch $@

$(DOCS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --upgrade pip
	$(DOCS)/bin/pip install --quiet --editable '.[docs]'
	touch $@

$(READY): pyproject.toml
	@echo 'Making .venv, which takes a minute or two the first time.'
	$(PYTHON) -c 'import sys; sys.exit("dualgap needs Python 3.10 or newer") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-oldest .venv-bench .venv-docs docs/_build docs/gallery bench-quick.json build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
