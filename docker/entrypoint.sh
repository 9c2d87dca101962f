#!/bin/sh
# The verbs of pgdl, and `ingestion` for the kit's ingestion program, for whatever user, on a
# read-only file system: all that libraries want to write (caches, font lists, compiled kernels) goes
# to one scratch folder.
set -eu

scratch=${TMPDIR:-/tmp}
if ! [ -d "$scratch" ] || ! [ -w "$scratch" ]; then
    echo "pgdl: $scratch is not writable: run the container with --tmpfs $scratch" >&2
    exit 1
fi
export HOME="$scratch"
export CUDA_CACHE_PATH="$scratch/cuda"
export KERAS_HOME="$scratch/keras"
export MPLCONFIGDIR="$scratch/matplotlib"
export XDG_CACHE_HOME="$scratch/cache"

if [ "${1:-}" = ingestion ]; then
    shift
    exec python3 -m starting_kit_adapter.ingestion "$@"
fi
exec pgdl "$@"
