# pgdl on a CPU: current TensorFlow, without its CUDA libraries.
#   docker build -f docker/cpu.Dockerfile -t pgdl-measures:cpu .

FROM python:3.11.13-slim-bookworm AS build
COPY docker/requirements-cpu.txt /src/docker/
RUN python -m venv /opt/pgdl && \
    /opt/pgdl/bin/pip install --no-cache-dir --no-deps -r /src/docker/requirements-cpu.txt
COPY . /src
# Every dependency is in the list above; tensorflow-cpu is the `tensorflow` that setup.py means.
RUN /opt/pgdl/bin/pip install --no-cache-dir --no-deps --no-build-isolation /src

FROM python:3.11.13-slim-bookworm
COPY --from=build /opt/pgdl /opt/pgdl
COPY --from=build /src/docker/entrypoint.sh /usr/local/bin/pgdl-entrypoint
ENV PATH=/opt/pgdl/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
# Any other user will do as well: nothing in the image is this user's.
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["/bin/sh", "/usr/local/bin/pgdl-entrypoint"]
CMD ["--help"]
