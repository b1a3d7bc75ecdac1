#!/usr/bin/env bash
# Installs what is missing, builds quietframe and denoises a clip with every filter in a real GStreamer pipeline:
# a table (speed, latency, quality) and a before/after contact sheet. Without arguments the clip is a noisy moving
# ultrasound phantom; see --help for files, raw clips and cameras.
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
. "$here/tests/packages.sh"

usage() {
  cat <<'TEXT'
usage: examples/quickstart.sh [options] [SOURCE [CAPS]]
  SOURCE            nothing: an ultrasound phantom; a video file; /dev/video0; a raw clip, with its CAPS such as
                    video/x-raw,format=GRAY8,width=820,height=616,framerate=12/1
  --cpu             build without CUDA even where a GPU is present
  --no-install      do not install packages
  other options go to the program (build-quickstart/examples/quickstart --help):
  --frames N  --filter NAME  --set PROPERTY=VALUE  --backend auto|cuda|cpu  --size 512x512  --output FOLDER
TEXT
}

cpu=no install=yes arguments=()
for word in "$@"; do
  case "$word" in
    --cpu) cpu=yes ;;
    --no-install) install=no ;;
    --help|-h) usage; exit 0 ;;
    *) arguments+=("$word") ;;
  esac
done

if [ $install = yes ]; then
  # shellcheck disable=SC2086
  install_packages $packages_build $packages_run
fi

archs="$(gpu_archs)"
if [ $cpu = yes ]; then
  echo "build: CPU only, as asked"
  cuda=(-Dcuda=disabled)
elif ! nvcc="$(find_nvcc)"; then
  echo "build: CPU only, for there is no nvcc in PATH or /usr/local/cuda/bin (the CUDA toolkit, 12 or 13, brings it)"
  cuda=(-Dcuda=disabled)
elif [ -z "$archs" ]; then
  echo "build: CPU only, for nvidia-smi finds no GPU here (nvcc is at $nvcc)"
  cuda=(-Dcuda=disabled)
else
  echo "build: CPU and CUDA for sm_${archs//,/, sm_} with $nvcc; the first time takes minutes"
  cuda=(-Dcuda=enabled "-Dcuda-archs=$archs")
fi

build="$here/build-quickstart"
log="$build.log"
say_why() { echo "quickstart: the build failed; the end of $log:" >&2; tail -n 25 "$log" >&2; exit 1; }
if [ -f "$build/build.ninja" ]; then
  meson setup --reconfigure "$build" "$here" "${cuda[@]}" >"$log" 2>&1 || say_why
else
  rm -rf "$build"
  meson setup "$build" "$here" -Dtests=false "${cuda[@]}" >"$log" 2>&1 || say_why
fi
echo "build: compiling in $build"
ninja -C "$build" >>"$log" 2>&1 || say_why

export GST_PLUGIN_PATH="$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}" GST_REGISTRY_1_0="$build/registry.bin"
exec "$build/examples/quickstart" ${arguments[@]+"${arguments[@]}"}
