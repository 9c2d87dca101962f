#!/usr/bin/env bash
# Runs pgdl in its image under the limits of the competition.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: docker/run.sh [OPTION...] CORPUS OUT VERB [ARGUMENT...]
       docker/run.sh [OPTION...] --submission SUBMISSION CORPUS OUT

Runs `pgdl VERB ARGUMENT...` in a container with the limits of the competition: 4 CPUs, 26 GB of
memory, no network, one GPU. The container sees CORPUS - or the single task that it is - in /corpus,
read-only, and OUT as /out; files in OUT are yours. OUT is made if it is not there.

  --device DEVICE   cpu (default), k80, v100, or gpu for any other
  --gpu GPU         index or UUID of the GPU, as nvidia-smi lists it (default: 0; each half of a
                    K80 is one)
  --image IMAGE     default: pgdl-measures:cpu or pgdl-measures:gpu

With --submission it runs a submission to the competition, a folder or a zip, that you need not
trust: the container has the trained models and the training data, read-only, and no
model_configs.json, no test data and nothing else of the machine. Predictions go to OUT, where
`pgdl score` reads them.

On a smaller machine set PGDL_CPUS and PGDL_MEMORY: then the limits are no longer the competition's.

examples:
  docker/run.sh zoo/ out/ run /corpus -m gi_intra_l0,mixup -o /out
  docker/run.sh --submission stranger.zip zoo/ out/
  docker/run.sh --device k80 corpus/ out/ limits /corpus -m gi_intra_l0 --enforce --device k80
TEXT
}

fail() {
    echo "docker/run.sh: $1" >&2
    exit 2
}

device=cpu gpu=0 image='' submission=''
while [[ $# -gt 0 && $1 == -* ]]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --device | --gpu | --image | --submission)
        [[ $# -ge 2 ]] || fail "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    *) fail "unknown option $1; options of pgdl come after its verb" ;;
    esac
done
if [[ -z $submission && $# -lt 3 || -n $submission && $# -ne 2 ]]; then
    usage >&2
    exit 2
fi
corpus=$1 out=$2
shift 2

[[ -d $corpus ]] || fail "there is no folder $corpus"
mkdir -p -- "$out" || fail "cannot make the folder $out"
corpus=$(cd -- "$corpus" && pwd -P)
out=$(cd -- "$out" && pwd -P)
if [[ -n $submission ]]; then
    [[ -e $submission ]] || fail "there is no submission $submission"
    submission=$(cd -- "$(dirname -- "$submission")" && pwd -P)/$(basename -- "$submission")
fi
for path in "$corpus" "$out" "$submission"; do
    [[ $path != *[,\"]* ]] || fail "docker cannot mount a path with a comma or a quote: $path"
done

target=/corpus
if [[ -d $corpus/dataset_1 ]]; then # a single task, which is known by the name of its folder
    target=/corpus/${corpus##*/}
fi

staged=
stage() { # makes a corpus of just the files that a submission may see: links, or else copies
    staged=$(mktemp -d -- "$corpus/../.pgdl-submission-XXXXXX" 2>/dev/null) || staged=$(mktemp -d)
    trap 'rm -rf -- "$staged"' EXIT
    local file
    while IFS= read -r -d "" file; do
        mkdir -p -- "$staged/${file%/*}"
        ln -L -- "$corpus/$file" "$staged/$file" 2>/dev/null ||
            cp -- "$corpus/$file" "$staged/$file" || fail "cannot copy $corpus/$file"
    done < <(cd -- "$corpus" && find -L . -type f \( -path '*/dataset_*/train/*' -o \
        -path '*/model_*/config.json' -o -path '*/model_*/weights.hdf5' -o \
        -path '*/model_*/weights_init.hdf5' \) -print0)
    chmod -- 755 "$staged"
}
source=$corpus
if [[ -n $submission ]]; then
    stage
    source=$staged
fi

memory=${PGDL_MEMORY:-26g}
arguments=(
    --rm --init
    --cpus "${PGDL_CPUS:-4}" --memory "$memory" --memory-swap "$memory"
    --network none
    --read-only --tmpfs "/tmp:rw,nosuid,nodev,mode=1777,size=2g"
    --cap-drop ALL --security-opt no-new-privileges
    --user "$(id -u):$(id -g)"
    --mount "type=bind,source=$source,target=$target,readonly"
    --mount "type=bind,source=$out,target=/out"
)
if [[ -n $submission ]]; then
    arguments+=(--pids-limit 4096 --mount "type=bind,source=$submission,target=/submission,readonly")
    set -- ingestion /corpus /out /tmp /submission
fi
[[ ! -t 1 ]] || arguments+=(--tty) # for the line of progress

need_gpu() { # NAME: the GPU's name has this in it
    [[ $gpu =~ ^[A-Za-z0-9-]+$ ]] || fail "--gpu $gpu: expected one index or UUID"
    local found
    found=$(nvidia-smi --id="$gpu" --query-gpu=name --format=csv,noheader) ||
        fail "nvidia-smi finds no GPU $gpu"
    [[ $found == *"$1"* ]] || fail "GPU $gpu is a $found, not a $1"
    arguments+=(--gpus "device=$gpu")
}
case $device in
cpu) ;;
gpu) need_gpu "" ;;
k80) need_gpu K80 ;;
v100) need_gpu V100 ;;
*) fail "unknown device $device: expected cpu, k80, v100 or gpu" ;;
esac
if [[ -z $image ]]; then
    [[ $device == cpu ]] && image=pgdl-measures:cpu || image=pgdl-measures:gpu
fi

# Not exec: what was staged is removed afterwards.
docker run "${arguments[@]}" "$image" "$@"
