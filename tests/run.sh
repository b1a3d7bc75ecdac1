#!/usr/bin/env bash
# Installs what is missing, builds quietframe and runs every test; the last line is "N passed, N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/packages.sh

usage() {
  cat <<'TEXT'
usage: tests/run.sh [options]
  --cpu             build without CUDA even where nvcc is present
  --archs LIST      SM versions to compile for, comma separated (default: those of the GPUs here, else 90)
  --sanitize LIST   build with sanitizers: address,undefined or thread (implies --cpu)
  --werror          warnings are errors
  --build DIR       build folder (default: build-tests, and one more for each --sanitize and --cpu)
  --no-install      do not install packages
  --jobs N          parallel compile jobs (default: one per CPU)
TEXT
}

cpu=no archs="" sanitize="" werror=false build="" install=yes jobs="$(nproc)"
while [ $# -gt 0 ]; do
  case "$1" in
    --cpu) cpu=yes ;;
    --archs) archs="$2"; shift ;;
    --sanitize) sanitize="$2"; cpu=yes; shift ;;
    --werror) werror=true ;;
    --build) build="$2"; shift ;;
    --no-install) install=no ;;
    --jobs) jobs="$2"; shift ;;
    --help|-h) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

# Whatever stops the script before the tests are counted is one failure: the last line is always there.
counted=no
trap 'status=$?; if [ $counted = no ] && [ $status != 0 ]; then echo "tests/run.sh: stopped before the tests ran"; echo "0 passed, 1 failed, 0 skipped"; fi' EXIT

if [ $install = yes ]; then
  # shellcheck disable=SC2086
  install_packages $packages_build $packages_run $packages_tests
fi

options=(-Dwerror=$werror -Dtests=true -Dexamples=true)
if [ $cpu = yes ]; then
  echo "backend: CPU only (CUDA is not built)"
  options+=(-Dcuda=disabled)
elif nvcc="$(find_nvcc)"; then
  found="$(gpu_archs)"
  archs="${archs:-${found:-90}}"
  if [ -n "$found" ]; then gpu="a GPU was found: its tests run"; else gpu="no GPU was found: the tests that need one are skipped"; fi
  echo "backend: CPU and CUDA for sm_${archs//,/, sm_} with $nvcc; $gpu"
  options+=(-Dcuda=enabled "-Dcuda-archs=$archs")
else
  echo "backend: CPU only (no nvcc in PATH or /usr/local/cuda/bin, so CUDA is not built and its tests are not there)"
  options+=(-Dcuda=disabled)
fi

multiplier=1
suffix=""
case "$sanitize" in
  "") [ $cpu = no ] || suffix="-cpu" ;;
  thread) suffix="-thread" multiplier=8 ;;
  *address*) suffix="-address" multiplier=6 ;;
  *) suffix="-${sanitize//,/-}" multiplier=4 ;;
esac
build="${build:-build-tests$suffix}"
if [ -n "$sanitize" ]; then
  # -O1: at -O2 instrumented vector code takes minutes a file to compile.
  options+=("-Db_sanitize=$sanitize" -Db_lundef=false --buildtype=debugoptimized -Doptimization=1)
fi

if [ -f "$build/build.ninja" ]; then
  meson setup --reconfigure "$build" "${options[@]}" >/dev/null
else
  rm -rf "$build"
  meson setup "$build" "${options[@]}"
fi
ninja -C "$build" -j "$jobs"

# A crashed test leaves no report of its own: one of an earlier run must not stand in for it.
rm -f "$build"/*.xml "$build"/meson-logs/testlog.json
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
# Leaks are told by their whole stack, and GLib's slices must not keep what is lost within reach.
export ASAN_OPTIONS="fast_unwind_on_malloc=0" G_SLICE=always-malloc
export LSAN_OPTIONS="suppressions=$PWD/tests/sanitizers/lsan.supp:print_suppressions=0"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:second_deadlock_stack=1:history_size=7"
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier $multiplier </dev/null || true

counted=yes
python3 tests/count_tests.py "$build"
