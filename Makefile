# `make demo` runs the whole workflow on a shipped arm, `make test` runs the tests; both create
# the virtual environment .venv on the first call. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/installed
ROS_STAMP := $(VENV)/ros_installed

unexport PYTHONDONTWRITEBYTECODE    # some containers set it: every process would compile the package

.PHONY: oldest newest demo ros ros-demo ros-test test tests test-slow portable-test faults fuzz mutants reliability lint ament-lint docs pictures screenshots house benchmarks clean

demo: $(STAMP)
	$(VENV)/bin/robot-identification demo -o results/demo

ros: $(ROS_STAMP)

ros-demo: $(ROS_STAMP)
	$(VENV)/bin/robot-identification ros demo -o results/ros_demo

ros-test: $(ROS_STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest \
		--numprocesses 2 --dist loadfile test/integration

# the type checker occupies one core for a minute; the tests use the others
test: $(STAMP)
	@$(MAKE) --no-print-directory --jobs 2 lint tests

PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest \
	--numprocesses auto --maxprocesses 4 --dist worksteal --ignore test/integration
tests: $(STAMP)
	$(PYTEST) -m 'not slow'

# further cases of the same tests, with the marker `slow`
test-slow: $(STAMP)
	$(PYTEST) -m slow

# numerical tests with the kernels that an older processor would choose
NUMERICAL := test/test_batch_estimators.py test/test_estimation.py test/test_online.py \
	test/test_search_estimators.py test/test_variable_projection.py test/test_regress*.py \
	test/test_identification.py test/robots/test_chain.py
portable-test: $(STAMP)
	OPENBLAS_CORETYPE=Sandybridge NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= \
	NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/numba_generic OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(VENV)/bin/python -m pytest --numprocesses auto --maxprocesses 4 \
		--dist worksteal $(NUMERICAL)

# the oldest versions that setup.py allows on Python 3.10, and the newest on 3.13: a quick part of
# the tests, and the demonstration; uv, from pip, resolves and finds the interpreters
VERSIONS := test/test_arm.py test/test_dynamics.py test/test_logs.py test/test_recording_files.py \
	test/test_rosbag.py test/test_yaml_file.py test/test_packages.py test/test_commands.py \
	test/test_helper_process.py test/test_batch_estimators.py test/test_registry.py \
	test/test_page_policy.py test/test_fleet.py test/test_export.py
oldest: OPTIONS := --resolution lowest-direct
oldest: VERSION := 3.10
newest: OPTIONS := --upgrade
newest: VERSION := 3.13
oldest newest: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet uv
	PYENV_VERSION=$(VERSION) $(VENV)/bin/uv venv --quiet --clear --python $(VERSION) .venv-$@
	$(VENV)/bin/uv pip install --quiet --python .venv-$@/bin/python $(OPTIONS) \
		--editable '.[test,logs,fleet]'
	.venv-$@/bin/robot-identification demo -o results/demo_$@
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-$@/bin/python -m pytest -m 'not slow' \
		$(VERSIONS)

# faults while the arm moves, simulated with a model of the controller at 500 Hz
faults: $(STAMP)
	$(VENV)/bin/python test/controllers/controller_faults.py

# N corrupted files for each reader, from number FIRST; failures are kept in test/fuzz/corpus
N ?= 10000
FIRST ?= 0
fuzz: $(STAMP)
	$(VENV)/bin/python test/fuzz/run.py --count $(N) --first $(FIRST)

# COUNT random changes of safety code, drawn with SEED, and those that the tests of PACKAGE
# (excitation/certificate or ros/execution) do not notice
PACKAGE ?= excitation/certificate
COUNT ?= 100
SEED ?= 0
mutants: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet cosmic-ray
	$(VENV)/bin/python test/mutants.py $(PACKAGE) --count $(COUNT) --seed $(SEED)

# verdicts on corrupted and on clean recordings of simulated arms, and on those of real arms in
# DATASETS; results are collected in results/wrong_models.json and results/reliability.json
SEEDS ?= 0 1 2
DATASETS ?= ../shared/datasets
RELIABILITY := $(VENV)/bin/python benchmarks/reliability.py --datasets $(DATASETS)
reliability: $(STAMP)
	$(VENV)/bin/python benchmarks/wrong_models.py --seeds $(SEEDS)
	$(VENV)/bin/python benchmarks/wrong_models.py --clean 20
	$(VENV)/bin/python benchmarks/wrong_models.py --clean 6 --plant mujoco
	if [ -d $(DATASETS) ]; then $(RELIABILITY) --part real && \
		$(RELIABILITY) --part real-corrupted && $(RELIABILITY) --table && \
		$(VENV)/bin/python benchmarks/torque_intervals.py --datasets $(DATASETS); fi

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/lint-imports --no-logo
	$(VENV)/bin/mypy

# the linter of ROS packages, in the environment of `make ros`; .ci/run calls it
ament-lint: $(ROS_STAMP)
	$(VENV)/bin/ament_flake8 --linelength 99 robot_identification launch test benchmarks setup.py

# the documentation site, in build/docs; warnings and broken links are errors
docs: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet --editable '.[docs]'
	$(VENV)/bin/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs

# the pictures in docs, from pages of simulated arms in build/pages; needs Chromium and Pillow
pictures: $(STAMP)
	$(VENV)/bin/python docs/pictures.py --data build/pages --docs docs/images

# photographs of every page for a reviewer: 1440 and 390 pixels, light, dark, print, without scripts
screenshots: $(STAMP)
	$(VENV)/bin/python docs/pictures.py --data build/pages --shots build/screenshots

house:
	@$(PYTHON) test/house.py

benchmarks: $(STAMP)
	$(VENV)/bin/python benchmarks/regressor.py
	$(VENV)/bin/python benchmarks/regression.py
	$(VENV)/bin/python benchmarks/identification.py
	$(VENV)/bin/python benchmarks/recording.py
	$(VENV)/bin/python benchmarks/excitation.py
	$(VENV)/bin/python benchmarks/search_and_online.py
	$(VENV)/bin/python benchmarks/real_arms.py

$(STAMP): setup.py pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet --editable '.[develop]'
	touch $(STAMP)

$(ROS_STAMP): $(STAMP) .ci/ros_wheels $(wildcard interfaces/*/*)
	.ci/ros_wheels $(VENV)
	touch $(ROS_STAMP)

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest build results *.egg-info
