# The words of this project.  Everything runs in .venv, which `make setup` makes.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.developing
GPU    := $(VENV)/.with_gpu
DOCS   := $(VENV)/.documenting

.PHONY: setup setup-gpu fuzz fuzz-cluster docs first-hour test-pythons bench-models bench-cluster bench-gpu train test smoke test-browser test-slurm test-gpu test-protobuf mutate mutate-kernels coverage lint format type proto bench clean

setup: $(DEV)  ## for developing; running alone needs less

# A machine without ensurepip (Debian keeps it in python3-venv) has its own pip fill the new .venv.
$(STAMP): pyproject.toml setup.py scripts/install.py
	$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install --quiet pip; }
	$(PY) scripts/install.py run
	touch $@

$(DEV): $(STAMP) scripts/cudnn_parts.py
	$(PY) scripts/install.py dev
	$(PY) scripts/cudnn_parts.py
	touch $@

setup-gpu: $(GPU)  ## CuPy with its CUDA libraries, NCCL and cuDNN, into .venv; the driver is NVIDIA's

$(GPU): $(DEV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[gpu]'
	touch $@

$(DOCS): $(DEV)
	$(PY) scripts/install.py docs
	touch $@

RUN := runs/digits

# A folder holds one run: the second is runs/digits-2.
train: $(STAMP)  ## LeNet on the embedded handwritten digits
	$(PY) data/digits/create_digits.py
	run=$(RUN); n=1; while [ -e $$run ]; do n=$$((n + 1)); run=$(RUN)-$$n; done; \
	$(PY) -m pycaffe_dist train -solver models/digits/solver.prototxt --run-dir $$run && \
	{ $(PY) -m pycaffe_dist plot $$run -o $$run/training.png || $(PY) -m pycaffe_dist plot $$run --terminal; } && \
	echo "Weights: $$(ls -t $$run/*.caffemodel | head -1)   Chart: $$(ls $$run/training.png 2>/dev/null || echo above)"

# As many workers as cores, or: make test JOBS=4.  A test that hangs ends its worker, not the run.
JOBS   ?= auto
PYTEST := $(PY) -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal

test: setup
	$(PYTEST) $(FLAGS)

SMOKE := smoke golden unit/proto unit/solvers unit/test_net.py unit/test_solver.py unit/pycaffe/test_net.py
SMOKE += parallel/test_ops.py::test_ranks_train_and_rank_0_speaks_for_all

smoke: setup  ## recorded answers, files, nets, solvers and two ranks, in under a minute
	$(PYTEST) --backend onednn $(addprefix tests/,$(SMOKE))

test-browser: setup  ## the board in Chromium, Debian's packages chromium and chromium-driver
	$(PY) scripts/install_browser.py
	$(PY) -m pytest --browser tests/browser

test-slurm: setup  ## srun, sbatch and scancel on a Slurm of two node names here; needs root, slurm-wlm, munge, libpmix-dev
	$(PY) -m pytest --slurm tests/slurm

test-gpu: setup-gpu  ## kernels, layers, nets and solvers on a real GPU; what came of it in runs/gpu_report.json
	$(PY) scripts/test_gpu.py

SEEDS ?= 1-1000

fuzz-cluster: setup  ## random nets on several ranks against one rank with the joint batch
	$(PY) scripts/fuzz_cluster.py --seeds $(SEEDS)

test-protobuf: setup  ## protobuf 4.21 to 7, each in an environment of its own
	$(PY) scripts/test_protobuf.py

test-pythons:  ## fresh clones, both commands, every Python that is found
	$(PYTHON) scripts/test_pythons.py

coverage: setup  ## lines and branches that no test reaches; of some tests: PARTS="tests/unit tests/layers"
	$(PY) -m coverage erase
	-$(PY) -m coverage run -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal $(PARTS)
	$(PY) -m coverage combine --quiet
	$(PY) -m coverage report --skip-covered --show-missing

COUNT ?= 50
SEED  ?= 1

mutate: setup  ## does a test fail if one small thing is changed?  COUNT, SEED, BASE=commit, ONLY='layers/*'
	$(PY) scripts/mutate --count $(COUNT) --seed $(SEED) $(if $(BASE),--base $(BASE)) $(if $(ONLY),--only '$(ONLY)')

mutate-kernels: setup  ## the same for CUDA kernels, emulated and with every access checked; COUNT, SEED, ONLY=sums.cu
	$(PY) scripts/mutate_kernels.py --seed $(SEED) $(if $(filter command line,$(origin COUNT)),--count $(COUNT)) $(if $(ONLY),--only '$(ONLY)')

SECONDS ?= 600

fuzz: setup  ## damaged files through every command, for so many SECONDS; SEED
	$(PY) scripts/fuzz --seconds $(SECONDS) --seed $(SEED)

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/codespell
	$(PY) scripts/check_imports.py
	$(PY) scripts/check_sizes.py
	$(PY) scripts/check_docs.py
	$(PY) scripts/check_prose.py
	$(PY) scripts/make_layer_docs.py --check
	$(PY) scripts/make_command_docs.py --check
	$(PY) scripts/make_api_docs.py --check
	$(PY) scripts/make_front_chart.py --check
	$(PY) scripts/make_method_figures.py --check
	$(PY) scripts/make_notebooks.py --check

format: setup
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

type: setup  ## the package, and a user's script against its annotations
	$(VENV)/bin/mypy
	MYPYPATH=. $(VENV)/bin/mypy --strict --follow-imports silent --cache-dir .mypy_cache/user tests/typing/user_script.py

docs: $(DOCS)  ## the documentation as a site without anything from the network: build/site/index.html
	$(PY) scripts/make_site.py

first-hour: setup  ## a wheel in a clean environment and an empty folder: from installing to fine-tuning; minutes
	$(PY) tests/docs/first_hour.py

proto: setup  ## pycaffe_dist/proto/caffe_pb2.py from proto/caffe.proto
	$(PY) scripts/make_proto.py

bench: setup
	$(PY) scripts/bench_proto.py
	$(PY) scripts/bench_update.py
	$(PY) scripts/bench_data.py
	$(PY) scripts/bench_choice.py
	$(PY) scripts/bench_choice.py --busy --output runs/choice_busy.json
	$(PY) scripts/bench_leveldb.py
	$(PY) scripts/bench_cpu.py --everything --output docs/cpu_bench.json

bench-cluster: setup  ## ranks in network namespaces against PyTorch DDP; needs root
	$(PY) scripts/bench_cluster.py

bench-gpu: setup-gpu  ## the CPU benchmark's nets on a GPU, against PyTorch on it
	$(PY) scripts/bench_gpu.py

bench-models: setup  ## two iterations of every model on made-up data
	$(PY) scripts/bench_models.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf data/*/*_lmdb data/*/*_leveldb data/*/download data/lstm data/shapes data/hdf5_classification runs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
