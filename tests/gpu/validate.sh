#!/bin/bash
# Everything that needs a GPU, in one run: tests, sanitizers, throughput, latency, churn. Writes the record that
# tests/gpu-validation.md keeps. Usage: validate.sh BUILD_DIR [RECORD.md [SECTION...]]; sections: tests sanitizers
# speed median throughput element latency churn (all of them when none is named). Exits 1 when a section failed; a
# section that could not run is recorded as not run, never as passed.
set -u
build=$(cd "${1:?usage: validate.sh BUILD_DIR [RECORD.md [SECTION...]]}" && pwd)
record=$(realpath "${2:-gpu-validation.md}")
shift $(($# > 2 ? 2 : $#))
sections=${*:-tests sanitizers speed median throughput element latency churn}
frames=${QF_LATENCY_FRAMES:-10000}
tests=$build/tests
here=$(cd "$(dirname "$0")" && pwd)
export GST_PLUGIN_PATH=$build/gst GST_REGISTRY_1_0=${TMPDIR:-/tmp}/quietframe-validate-registry.bin
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
failed=0
if ! nvidia-smi -L >/dev/null 2>&1; then
  echo "no GPU here: nothing was run and $record was not written"
  exit 77
fi

note() { printf '%s\n' "$@" >>"$record"; }
# run NAME SECONDS COMMAND...: its output as a block, and a verdict.
run() {
  local name=$1 limit=$2 out code
  shift 2
  out=$(timeout "$limit" "$@" 2>&1)
  code=$?
  local verdict=passed
  case $code in
    0) ;;
    77) verdict="not run" ;;
    124) verdict="stopped after $limit s" failed=1 ;;
    *) verdict="FAILED ($code)" failed=1 ;;
  esac
  if grep -q '\[  PASSED  \] 0 tests' <<<"$out"; then
    verdict="not run"
  elif grep -q '\[  SKIPPED \]' <<<"$out"; then verdict="$verdict, with tests skipped"; fi
  note "### $name: $verdict" "" ; note '```'
  note "$(grep -v -E '^\[ RUN |^\[       OK|^\[-----|^$|^========= COMPUTE' <<<"$out" | tail -${QF_LINES:-40})"
  note '```'; note ""
  echo "$name: $verdict"
}
wants() { [[ " $sections " == *" $1 "* ]]; }

: >"$record"
note "# Validation on a GPU"; note ""
note "Made by tests/gpu/validate.sh; figures hold for this machine alone."; note ""
note "- date: $(date -u +%F)"
note "- commit: $(git -C "$(dirname "$0")" rev-parse --short HEAD 2>/dev/null || echo "${QF_COMMIT:-unknown}")"
note "- GPU, driver: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)"
note "- CUDA toolkit: $(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
note "- GStreamer: $(gst-inspect-1.0 --version 2>/dev/null | tail -n +2 | head -1 || echo none)"
note "- CPU cores: $(nproc)"; note ""

if wants tests; then
  note "## Tests"; note ""
  run "processor on the GPU" 300 "$tests/gpu-processor-test"
  run "every filter against its definition, staged memory" 300 "$tests/parity-test" --backend=cuda
  run "median, equal bit for bit" 300 "$tests/median-check" 2
  run "gaussian, bilateral, nlm against their definitions" 300 "$tests/filters-gpu-check"
  run "wavelet, every schedule, and the exact median" 300 "$tests/wavelet-gpu" check
  run "the element, on the CPU" 300 "$tests/element/element-test"
  run "the element, on the GPU" 300 env QF_TEST_BACKEND=cuda "$tests/element/element-test"
  run "CUDAMemory in and out" 300 "$(dirname "$0")/cuda_memory.sh" ${QF_CLIP:-}
  run "the element, every CUDA call failing once" 300 env GST_PLUGIN_PATH= GST_REGISTRY_1_0="$GST_REGISTRY_1_0.linked" "$tests/element/element-cuda-test" --gtest_filter='*Faults*'
fi
if wants sanitizers; then
  note "## compute-sanitizer"; note ""
  for tool in memcheck initcheck synccheck; do
    run "$tool" 600 "$sanitizer" --tool $tool --error-exitcode 3 "$tests/parity-test" --backend=cuda \
      --gtest_filter='*HostileSizes*:*EveryFormat*'
  done
  # Slow: filter by filter, so that one does not hide the others.
  for filter in gaussian bilateral median wavelet nlm; do
    run "racecheck, $filter" 900 env QF_TEST_FILTER=$filter "$sanitizer" --tool racecheck --error-exitcode 3 \
      "$tests/gpu-processor-test" --gtest_filter='*EveryProgramOnASmallFrame*'
  done
fi
if wants speed; then
  note "## Kernels: median of graph replays on device memory"; note ""
  QF_LINES=80 run "wavelet" 120 "$tests/wavelet-gpu" bench
  QF_LINES=80 run "gaussian, bilateral, nlm" 120 "$tests/filters-gpu-time"
fi
if wants median; then
  note "## Median: every odd window at 4K, and its peers in the same run"; note ""
  sweep=${record%.md}-median
  timeout 120 "$tests/median-sweep" >"$sweep.csv"
  timeout 180 python3 "$here/median_peers.py" >"$sweep-peers.csv" 2>"$sweep-peers.txt"
  cat "$sweep-peers.txt"
  QF_LINES=80 run "growth with the window" 60 python3 "$here/median_plot.py" "$sweep.csv" "$sweep-peers.csv" "$sweep.png"
  note "Times: $(basename "$sweep").csv and $(basename "$sweep")-peers.csv; plot: $(basename "$sweep").png."; note ""
fi
if wants throughput; then
  note "## Throughput of the library's own loop"; note ""
  QF_LINES=60 run "beside the copies alone" 600 "$tests/processor-bench" throughput ${QF_FILTERS:-none gaussian wavelet}
  run "timeline of small frames: which part waits for which" 120 "$tests/processor-bench" timeline gaussian 0
fi
if wants element; then
  note "## appsrc with the element's pool ! videodenoise ! fakesink"; note ""
  while read -r w h format count; do
    for filter in ${QF_ELEMENT_FILTERS:-gaussian wavelet}; do
      for depth in 1 2 3 4 8; do
        run "${w}x$h $format $filter, depth $depth" 60 "$tests/element-bench" "$w" "$h" "$format" "$filter" $depth "$count"
      done
    done
  done <<<"512 512 GRAY8 10000
1920 1080 NV12 3000
3840 2160 NV12 1000"
fi
if wants latency; then
  note "## Latency, 1080p NV12 at 60 frames/s"; note ""
  run "library" 600 "$tests/processor-bench" latency ${QF_LATENCY_FILTER:-gaussian} 60 "$frames"
  run "element" 600 "$tests/element-bench" 1920 1080 NV12 ${QF_LATENCY_FILTER:-gaussian} 4 "$frames" 60
  run "cudaupload ! cudadownload" 600 "$tests/element-bench" 1920 1080 NV12 peer 1 "$frames" 60
  for radius in 1 3 7 15; do
    run "element, median of radius $radius" 60 "$tests/element-bench" 1920 1080 NV12 "median median-radius=$radius" 4 600 60
  done
fi
if wants churn; then
  note "## Starts, stops and caps changes"; note ""
  run "1000 starts, 200 caps changes" 600 "$tests/processor-bench" churn 1000 200
fi
exit $failed
