# pgdl on a GPU: TensorFlow's own image, the last one with code for a K80 (see README.md).
#   docker build -f docker/gpu.Dockerfile -t pgdl-measures:gpu .

FROM tensorflow/tensorflow:2.14.0-gpu AS build
COPY docker/requirements-gpu.txt /src/docker/
# TensorFlow, NumPy and their dependencies stay the base's.
RUN python -m venv --system-site-packages /opt/pgdl && \
    /opt/pgdl/bin/pip install --no-cache-dir --no-deps -r /src/docker/requirements-gpu.txt
COPY . /src
RUN /opt/pgdl/bin/pip install --no-cache-dir --no-deps --no-build-isolation /src

FROM tensorflow/tensorflow:2.14.0-gpu
COPY --from=build /opt/pgdl /opt/pgdl
COPY --from=build /src/docker/entrypoint.sh /usr/local/bin/pgdl-entrypoint
ENV PATH=/opt/pgdl/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
# Any other user will do as well: nothing in the image is this user's.
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["/bin/sh", "/usr/local/bin/pgdl-entrypoint"]
CMD ["--help"]
