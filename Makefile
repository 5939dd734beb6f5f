# tsnbench: run | quick | test | check | bench. Every target sets up what it needs; the first one compiles.
#
#   make run     plan, simulate, measure and report EnGINE's in-vehicle network
#   make quick   the fast part of every room's tests: a minute
#   make test    all tests that gate a change, Rust and Python: ten minutes
#   make nightly  all tests with more examples, soak, labs of emulated guests, make test in a minimal Debian (hours)
#   make twin    the same small Plans in the simulator and on a kernel: docs/twin.md
#   make wheel   dist/tsnbench-….whl for this machine, with the native module and the live talker
#   make release  dist: wheels for Linux on x86-64 and Arm, tried in new environments, and their bill of materials
#   make twice   the wheel of dist for this machine, built once more in another folder: each octet has to be the same
#   make container  images tsnbench and tsnbench-vm of the wheels in dist, tried (buildah; CONTAINER_BASE: another base)
#   make audit   licences and sources of foreign crates (cargo deny), and their known weaknesses where the list can be had
#   make fresh   make run and make test in a minimal Debian, with what the README names and nothing else (as root)
#   make check   formatting, lint, types
#   make docs    target/docs/index.html: pages, notebooks (run), Python and Rust references; warnings are errors
#   make bench   measurements for docs/performance.md
#   make papers  every shipped scenario at its own duration with its report; papers' figures beside ours, target/papers.html (hours)
#   make bench-hosts  how much longer runs on hosts take than their Plans (as root, in a lab of its own)
#   make lab     runs on hosts that are emulated machines: crashes, clocks of their own (minutes; nightly)
#   make precision  how precisely tsnbench, tcpreplay and iperf3 send (as root, in namespaces of its own)
#   make lock    write the lock files anew
#   make soak    random networks against their bounds (SOAK_PLANS), and random changes of a CNC (SOAK_CHANGES)
#   make mutants  defects put into the code one by one; lists those that no test detects: docs/mutants.md (hours)

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SCENARIO ?= scenarios/papers/engine/ex-ucc.yaml

# The extension module finds Python's symbols in the interpreter that loads it.
export PYO3_BUILD_EXTENSION_MODULE := 1
# Compiled modules are kept outside of the tree: programs and tests start in half of the time.
export PYTHONPYCACHEPREFIX := $(CURDIR)/target/python
unexport PYTHONDONTWRITEBYTECODE

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

SOAK_PLANS ?= 40000
SOAK_CHANGES ?= 20000
SOAK_SEED  ?= 1

# What make fresh runs; both of the README's commands unless given.
FRESH ?=

.PHONY: page-types run quick test nightly slow everyday twin check bench bench-hosts lab papers precision soak mutants lock wheel release twice container audit fresh clean packages help docs docs-rust

help:
	@sed -n 's/^#  *make/make/p' Makefile

run: $(VENV)/.built
	@$(BIN)/tsnbench run $(SCENARIO) --force; status=$$?; \
	if [ $$status -le 1 ]; then exit 0; else exit $$status; fi

# Tests run as many at a time as there are processors; those with frames on real kernels beside them, those that share a
# guest or a lab one after the other and before all others, because their talkers have to be in time.
CARGO_TEST := nice -n 19 cargo test --quiet --locked --workspace --exclude tsn-python
PYTEST     := $(BIN)/python -m pytest
# Files in memory. One test more than processors at a time, because some tests wait; so no threads within tables.
PARALLEL   := TMPDIR=$$(sh .ci/memory) POLARS_MAX_THREADS=1 nice -n 10 $(PYTEST) -m "not kernel" --numprocesses $$(($$(nproc) + 1)) --dist worksteal
KERNELS    := $(PYTEST) -m kernel --numprocesses 2 --dist loadgroup

quick: $(VENV)/.built
	@TSNBENCH_TESTS=quick .ci/lanes 'rust: $(CARGO_TEST) --lib ; python: $(PARALLEL)'

test: $(VENV)/.built packages
	@.ci/lanes 'rust: $(CARGO_TEST) ; python: $(PARALLEL)' 'kernels: $(KERNELS)'

nightly: $(VENV)/.built packages
	@TSNBENCH_TESTS=nightly PROPTEST_CASES=5000 .ci/lanes \
	  'rust: $(CARGO_TEST) ; python: $(PARALLEL) ; kernels: $(KERNELS) ; soak: $(MAKE) soak ; lab: $(MAKE) lab ; release: $(MAKE) release twice audit ; fresh: $(MAKE) fresh'

# Which test functions make quick leaves out: those that take longer than QUICK_S seconds there with all of their cases.
QUICK_S ?= 0.2
slow: $(VENV)/.built
	: >tests/slow.txt
	-TSNBENCH_TESTS=quick $(PARALLEL) --junit-xml target/tests.xml
	$(BIN)/python tests/support/seconds.py target/tests.xml --longer $(QUICK_S) >tests/slow.txt

wheel: $(VENV)/.built
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip wheel . --quiet --no-deps --no-build-isolation --wheel-dir dist

# What wheels are made with, in an environment of its own.
target/release-tools/.locked: requirements/release.lock
	$(PYTHON) -m venv target/release-tools
	target/release-tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

release: $(VENV)/.built target/release-tools/.locked
	target/release-tools/bin/python packaging/wheels.py
	$(BIN)/python packaging/parts.py sbom >dist/tsnbench.cdx.json
	TSNBENCH_WHEELS=$(CURDIR)/dist $(BIN)/python -m pytest tests/packaging/check_release.py

twice: target/release-tools/.locked
	@work=$$(mktemp -d "$${TMPDIR:-/var/tmp}/tsnbench-twice.XXXXXX"); trap 'rm -rf "$$work"' EXIT; \
	target/release-tools/bin/python packaging/wheels.py "$$(uname -m)" --work "$$work/another/folder" --into "$$work/dist" && \
	cmp "$$work"/dist/*.whl dist/*-manylinux*_"$$(uname -m)".whl && echo "the same wheel twice"

# Without a registry: CONTAINER_BASE names an image that is here already.
CONTAINER_BASE ?= docker.io/library/debian:12-slim
container:
	@sh .ci/packages buildah
	sh packaging/container $(CONTAINER_BASE)

audit: target/deny/bin/cargo-deny
	target/deny/bin/cargo-deny check licenses bans sources
	if target/deny/bin/cargo-deny fetch db; then target/deny/bin/cargo-deny check advisories; \
	  else echo "advisories: left out, their list cannot be had here" >&2; fi

target/deny/bin/cargo-deny:
	cargo install --quiet --locked --root target/deny --version 0.20.2 cargo-deny

fresh:
	@sh .ci/packages debootstrap
	bash .ci/fresh $(FRESH)

twin: $(VENV)/.built packages
	cd tests && $(CURDIR)/$(BIN)/python -m twin.page

everyday: $(VENV)/.built packages
	cd tests && $(CURDIR)/$(BIN)/python -m ui.everyday

# The tests of the house run small scenarios.
check: $(VENV)/.built
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page-types; \
	  else echo "the page's scripts are not checked: npm is missing" >&2; fi
	$(BIN)/python -m pytest -q tests/house

# The types in the page's scripts (checkJs). Nothing of it is part of the package.
page-types: target/page-types/.locked
	cat python/tsnbench/replay/player/gif.js python/tsnbench/replay/player/player.js > target/page-types/player.js
	target/page-types/node_modules/.bin/tsc --project requirements/page

target/page-types/.locked: requirements/page/package-lock.json
	mkdir -p $(@D)
	cp requirements/page/package.json $< $(@D)
	npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# Notebooks are run; DOCS_ARGS: more of sphinx-build's options.
DOCS_ARGS ?=

docs: $(VENV)/.built $(VENV)/.docs docs-rust
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html $(DOCS_ARGS) \
	  --conf-dir docs --doctree-dir target/doctrees . target/docs

docs-rust:
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --workspace --locked --document-private-items

# What builds the documentation comes into the same environment; no version differs from build.lock.
$(VENV)/.docs: requirements/docs.lock | $(VENV)/.locked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.lock
	@touch $@

bench: $(VENV)/.built
	$(BIN)/python benches/bench.py
	$(BIN)/python benches/cnc.py
	$(BIN)/python benches/clients.py
	$(BIN)/python benches/watch.py

bench-hosts: $(VENV)/.built packages
	$(BIN)/python benches/hosts.py

# Several emulated machines at a time, which is too long for make test.
lab: $(VENV)/.built packages
	$(BIN)/python -m pytest tests/hosts/check_guests.py

papers: $(VENV)/.built
	cd scenarios/papers && $(CURDIR)/$(BIN)/python -m paper_figures $(PAPERS)

precision: $(VENV)/.built
	$(BIN)/python benches/precision.py

soak: $(VENV)/.built
	BOUNDS_SEED=$(SOAK_SEED) BOUNDS_PLANS=$(SOAK_PLANS) \
	  cargo test --locked --release -p tsn-bounds --test proof -- --ignored --nocapture
	CNC_CHANGES=$(SOAK_CHANGES) $(BIN)/python -m pytest -q tests/cnc/test_beside.py

# MUTANTS: which crates, and `planning`. MUTANTS_ARGS: a part, as `--shard 0/20` or `--file crates/bridge/src/cbs.rs`.
MUTANTS      ?= bridge clock measure bounds planning
MUTANTS_ARGS ?=

mutants: $(VENV)/.built target/mutants/.tools
	PYTHONPATH=target/mutants/python-tools $(BIN)/python -m pytest tests/mutants/check_source.py
	PATH="$(CURDIR)/target/mutants/bin:$$PATH" PYTHONPATH=target/mutants/python-tools:tests \
	  $(BIN)/python -m mutants.run $(MUTANTS) $(MUTANTS_ARGS)

# The tools in folders of their own, of one version each: another version makes other mutants.
target/mutants/.tools: requirements/mutants.lock | $(VENV)/.locked
	cargo install --quiet --locked --root target/mutants --version 27.1.0 cargo-mutants
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target target/mutants/python-tools \
	  --require-hashes -r requirements/mutants.lock
	@touch $@

# The virtual environment, from the lock file with hashes.
$(VENV)/.locked: requirements/build.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'tsnbench needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3' >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.lock
	@touch $@

# The package itself: Python files are used in place, the native module is compiled into them.
$(VENV)/.built: $(VENV)/.locked pyproject.toml $(RUST_SOURCES)
	@command -v cargo >/dev/null \
	  || { echo 'tsnbench needs a stable Rust toolchain (cargo); see https://rustup.rs' >&2; exit 2; }
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet >/dev/null
	$(BIN)/python packaging/build_tsnbench.py >/dev/null
	@touch $@

# Writes the lock files anew; `uv` is needed for this only.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade \
	  --all-extras pyproject.toml requirements/build.in --output-file requirements/build.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade \
	  --constraints requirements/build.lock requirements/docs.in --output-file requirements/docs.lock
	for part in release mutants; do \
	  uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade \
	    --constraints requirements/build.lock requirements/$$part.in --output-file requirements/$$part.lock; done
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade \
	  --constraints requirements/build.lock --extra exact --extra netconf --extra ui --extra lsp --extra study --extra excel \
	  pyproject.toml --output-file requirements/run.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade \
	  --constraints requirements/run.lock --extra netconf --extra ui --extra lsp --extra excel \
	  pyproject.toml --output-file requirements/slim.lock

# What runs guests with a Linux kernel of their own; the kernel itself is downloaded when it is needed.
GUEST_PACKAGES := qemu-system-x86_64:qemu-system-x86 tc:iproute2 busybox:busybox-static ethtool tcpdump zstd \
                  ptp4l:linuxptp chrt:util-linux gcc make

# Programs that some tests look at the results with. Without root these tests are skipped with the reason. An ssh server
# is unpacked, not installed: no test installs what would let others in.
packages:
	@sh .ci/packages chromium-headless-shell
	@sh .ci/packages git pgrep:procps tshark yanglint:libyang2-tools netconfd cpio ssh:openssh-client pg_ctlcluster:postgresql $(GUEST_PACKAGES)
	@sh .ci/unpacked $(VENV)/unpacked openssh-server libwrap0
	@sh .ci/unpacked $(VENV)/unpacked-lldpd lldpd libevent-2.1-7 libbsd0 libcap2 libsnmp40 libxml2 libsensors5 libseccomp2 libpci3 libwrap0
	@sh .ci/unpacked $(VENV)/unpacked-prometheus prometheus
	@sh .ci/unpacked $(VENV)/unpacked-slurm slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 libhwloc15

clean:
	rm -rf $(VENV) target python/tsnbench/_native*.so python/tsnbench/tsnbench-traffic
