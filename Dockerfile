# pcd with CPU engine, several ranks and charts: docker build -t pycaffe_dist . && docker run pycaffe_dist info
FROM python:3.12-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE CHANGELOG.md ./
COPY proto proto
COPY models models
COPY data data
COPY pycaffe_dist pycaffe_dist
RUN pip install --no-cache-dir build==1.2.2 && python -m build --wheel --outdir /wheels

FROM python:3.12-slim-bookworm
COPY --from=build /wheels /wheels
# libgomp: what the CPU engine computes with.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libgomp1=12.* \
 && rm -rf /var/lib/apt/lists/* \
 && pip install --no-cache-dir "$(ls /wheels/*.whl)[mpi,plot]" \
 && rm -rf /wheels \
 && useradd --create-home --uid 1000 pcd
USER 1000
WORKDIR /work
# Runs and data: docker run -v "$PWD:/work" -p 127.0.0.1:6006:6006 pycaffe_dist board --host 0.0.0.0
EXPOSE 6006
ENTRYPOINT ["pcd"]
CMD ["--help"]
