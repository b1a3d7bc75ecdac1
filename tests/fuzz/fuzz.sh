#!/usr/bin/env bash
# Builds the fuzz targets with clang, AddressSanitizer and UBSan, and lets libFuzzer run each for a while.
# usage: tests/fuzz/fuzz.sh [SECONDS [TARGET...]]   (default: 600 seconds each of all). The last line says how many were clean.
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds="${1:-600}"
shift || true
targets="${*:-pnm y4m values options picture}"
build="${QF_FUZZ_BUILD:-build-fuzz}"

if [ ! -f "$build/build.ninja" ]; then
  CXX="${CXX:-clang++}" meson setup "$build" -Dfuzz=true -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false --buildtype=debugoptimized || exit 1
fi
clean=0 found=0
for name in $targets; do
  ninja -C "$build" "tests/fuzz/$name-fuzz" >"$build/$name.log" 2>&1 || { tail -20 "$build/$name.log"; exit 1; }
  corpus="$build/corpus/$name"
  python3 tests/fuzz/corpus.py "$name" "$corpus"
  dictionary=()
  [ ! -f "tests/fuzz/$name.dict" ] || dictionary=("-dict=tests/fuzz/$name.dict")
  if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/tests/fuzz/$name-fuzz" "$corpus" "${dictionary[@]}" -max_total_time="$seconds" \
    -timeout=20 -rss_limit_mb=3000 -max_len=4096 -artifact_prefix="$build/$name-" -print_final_stats=1 >"$build/$name.log" 2>&1; then
    clean=$((clean + 1))
    echo "$name: clean, $(grep -oE 'number_of_executed_units: [0-9]+' "$build/$name.log" | grep -oE '[0-9]+') inputs in $seconds s"
  else
    found=$((found + 1))
    echo "$name: FOUND something:"
    grep -E 'ERROR|runtime error|Test unit written' "$build/$name.log" | head -5
  fi
done
echo "$clean passed, $found failed, 0 skipped"
[ $found = 0 ]
