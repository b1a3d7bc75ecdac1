#!/bin/bash
# memory:CUDAMemory on either side of the element, in all combinations and formats, gives the bytes that system memory
# gives. GST_PLUGIN_PATH names the plugin's folder. Usage: cuda_memory.sh [CLIP.mp4 (H.264)]. Exits 77 where GStreamer's
# CUDA elements are not there.
set -u
for element in cudaupload cudadownload videodenoise; do
  gst-inspect-1.0 "$element" >/dev/null 2>&1 || { echo "skipped: no element $element"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cuda='video/x-raw(memory:CUDAMemory)'

# Each group of pipelines that shares its wanted bytes runs in a folder of its own, $jobs of them at once: a pipeline's
# start costs more than its frames.
jobs=${QF_JOBS:-8}

# play NAME PIPELINE...: runs it into NAME in the current folder.
play() {
  local name=$1
  shift
  timeout 60 gst-launch-1.0 -q "$@" ! filesink location="$name" >log 2>&1 && return
  grep -m3 -iE 'error|warn' log
  return 1
}

# compare NAME PIPELINE...: its bytes are those of the file "wanted".
compare() {
  local name=$1
  shift
  rm -f got
  if play got "$@" && [ -s got ] && cmp wanted got; then echo "ok: $name"; else echo "FAILED: $name"; fi
}

# group NAME FUNCTION ARGUMENT...: the function in a folder of its own, beside others.
group() {
  local name=$1
  shift
  mkdir -p "$folder/$name"
  while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
  (cd "$folder/$name" && "$@" >verdicts 2>&1) &
}

# pattern FORMAT SIZE: a moving source.
pattern() {
  echo "videotestsrc num-buffers=12 pattern=zone-plate kx2=20 ky2=20 kt=3 !" \
    "video/x-raw,format=$1,width=${2%x*},height=${2#*x},framerate=60/1"
}

two_in_a_row() {
  local source one="videodenoise backend=cuda filter=gaussian" two="videodenoise backend=cuda filter=median"
  source=$(pattern NV12 640x360)
  # shellcheck disable=SC2086
  {
    play wanted $source ! $one ! video/x-raw ! queue ! video/x-raw ! $two ! video/x-raw || echo "FAILED: two in a row, system memory"
    compare "two in a row, CUDA between" $source ! $one ! "$cuda" ! $two ! video/x-raw
    compare "two in a row, left to themselves" $source ! $one ! $two ! video/x-raw
    if timeout 60 gst-launch-1.0 -v $source ! $one ! $two ! fakesink 2>&1 |
      grep 'videodenoise0.GstPad:src' | grep -q CUDAMemory; then
      echo "ok: two in a row pass CUDAMemory"
    else
      echo "FAILED: two in a row pass CUDAMemory"
    fi
  }
}

# decoded CLIP FILTER
decoded() {
  local decode="filesrc location=$1 ! qtdemux ! h264parse ! nvh264dec" denoise="videodenoise backend=cuda filter=$2"
  # shellcheck disable=SC2086
  {
    play wanted $decode ! video/x-raw ! $denoise ! video/x-raw || echo "FAILED: NVDEC $2, system memory"
    compare "NVDEC $2, CUDA in" $decode ! "$cuda" ! $denoise ! video/x-raw
    compare "NVDEC $2, CUDA both" $decode ! "$cuda" ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
    compare "NVDEC $2, left to themselves" $decode ! $denoise ! video/x-raw
  }
}

# carried FORMAT SIZE: GStreamer's own elements take these frames.
carried() {
  # shellcheck disable=SC2046
  play carried $(pattern "$1" "$2") ! cudaupload ! "$cuda" ! cudadownload ! video/x-raw && return
  echo "not run: $1 $2, which cudaupload ! cudadownload cannot carry alone"
  return 1
}

# layout FORMAT: an odd size; an even one where GStreamer's elements cannot carry the odd one (1.28 gives NV21 of odd height one row
# too few).
layout() {
  local size=321x241
  carried "$1" $size || size=322x242
  combinations "$1" $size gaussian
}

# converted: the element between two conversions on the GPU.
converted() {
  local source one="videodenoise backend=cuda filter=gaussian" i420="$cuda,format=I420"
  source=$(pattern NV12 640x360)
  # shellcheck disable=SC2086
  {
    if ! play wanted $source ! cudaupload ! cudaconvert ! "$i420" ! cudadownload ! video/x-raw,format=I420 ! $one ! video/x-raw; then
      echo "not run: cudaconvert (it compiles its kernels with NVRTC, which is missing or too new for it)"
      return
    fi
    compare "between two cudaconvert" $source ! cudaupload ! cudaconvert ! "$i420" ! $one ! "$cuda" ! cudaconvert ! "$i420" ! \
      cudadownload ! video/x-raw
  }
}

# combinations FORMAT SIZE FILTER: CUDA on both sides; "all" as fourth argument: on either side alone as well.
combinations() {
  local source denoise="videodenoise backend=cuda filter=$3"
  source=$(pattern "$1" "$2")
  # shellcheck disable=SC2086
  {
    play wanted $source ! $denoise ! video/x-raw || { echo "FAILED: $1 $3, system memory"; return; }
    compare "$1 $3, CUDA both" $source ! cudaupload ! "$cuda" ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
    [ "${4:-}" = all ] || return 0
    compare "$1 $3, CUDA in" $source ! cudaupload ! "$cuda" ! $denoise ! video/x-raw
    compare "$1 $3, CUDA out" $source ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
  }
}

group pair two_in_a_row
group converted converted
if [ $# -gt 0 ] && gst-inspect-1.0 nvh264dec >/dev/null 2>&1; then
  clip=$(realpath "$1")
  for filter in gaussian wavelet; do group "nvdec-$filter" decoded "$clip" $filter; done
else
  echo "not run: NVDEC (no clip, or no element nvh264dec)"
fi
# NV12 and RGB in every combination with several filters, the others as their layouts differ.
for format in NV12 RGB; do
  for filter in gaussian wavelet none; do group "$format-$filter" combinations $format 640x360 $filter all; done
done
for format in I420 YV12 NV21 Y444 Y42B I420_10LE P010_10LE BGR RGBx BGRA ARGB; do
  group "$format" layout $format
done
wait

cat "$folder"/*/verdicts
passed=$(cat "$folder"/*/verdicts | grep -c '^ok: ')
failed=$(cat "$folder"/*/verdicts | grep -c '^FAILED: ')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
