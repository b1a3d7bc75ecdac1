#!/usr/bin/env bash
# Holds the style and the rules of the code base: one check after another; the last line is "N passed, N failed, N skipped".
# usage: tests/lint/run.sh BUILD [CHECK...]   BUILD: a CPU build folder (its compile commands and its plugin are looked at)
set -uo pipefail
cd "$(dirname "$0")/../.."
build="${1:?usage: tests/lint/run.sh BUILD [CHECK...]}"
shift

files() { git ls-files -- "$@"; }

# Prints what is wrong; silent when all is well. Status 77: could not be checked here.
check_format() {
  command -v clang-format >/dev/null || { echo "clang-format is not installed"; return 77; }
  case "$(clang-format --version)" in
    *"version 14."*) ;;
    *) echo "the style is that of clang-format 14; here: $(clang-format --version)"; return 77 ;;
  esac
  files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error:' | head -20
}

check_text() {
  files | grep -vE '\.(png|bin|npy|npz|svg|mkv|gray|raw)$' | xargs grep -nIE '[[:blank:]]+$|'$'\t' | grep -vE '^[^:]*\.(md|patch):' | head
  files '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.py' '*.sh' | while read -r file; do
    [ ! -s "$file" ] || [ -z "$(tail -c1 "$file")" ] || echo "$file: no newline at the end"
  done
  files '*.cpp' '*.hpp' '*.cu' '*.cuh' | while read -r file; do
    head -1 "$file" | grep -q '^// ' || echo "$file: does not open with a sentence of purpose"
  done
}

check_length() {
  files '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.py' '*.sh' | xargs wc -l |
    awk '$2 != "total" { most = $2 ~ /^tests\// ? 600 : 400; if ($1 > most) print $2 ": " $1 " lines (at most " most ")" }'
}

check_words() {
  files | grep -vE '^tests/lint/run.sh$|\.(png|bin|npy|npz|mkv|gray|raw)$' | xargs grep -nIE 'TODO|FIXME|XXX|/(work|root)/' | head
}

check_headers() {
  files 'kernels/*.hpp' | while read -r header; do
    case "$header" in kernels/cuda/*) continue ;; esac
    ${CXX:-g++} -std=c++20 -Wall -Wextra -fsyntax-only -I kernels -I "$build/kernels" -include "$header" -x c++ /dev/null 2>&1 | head -5
  done
}

# Includes of one file that match a pattern, as file:line:text.
includes() {
  local pattern="$1"
  xargs -r grep -nHE "^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<\"]($pattern)"
}

check_layers() {
  files kernels | includes 'gst/|glib|gio/|gobject' | sed 's/$/   (kernels knows neither GStreamer nor GLib)/'
  # cuda/device.hpp includes no CUDA header: it is how the others ask what devices there are.
  files gst examples | grep -E '\.(cpp|hpp)$' | includes 'cuda\.h|cuda_runtime|cuda/' | grep -v 'cuda/device\.hpp' | sed 's/$/   (CUDA stays in kernels)/'
  files kernels | grep -E '\.(cpp|hpp)$' | grep -v '^kernels/cuda/' | includes 'cuda\.h|cuda_runtime|cuda_fp16|cub/|thrust/' |
    sed 's/$/   (CUDA headers only in kernels\/cuda and .cu files)/'
}

plugins() { find "$build/gst" -maxdepth 1 -name 'libgst*.so' 2>/dev/null; }

check_symbols() {
  [ -n "$(plugins)" ] || { echo "no plugin in $build/gst"; return 77; }
  plugins | while read -r so; do
    nm -D --defined-only "$so" | awk '$2 ~ /^[TDBR]$/ && $3 !~ /^gst_plugin_/ { print so ": exports " $3 }' so="$so" | head
    nm -D --defined-only "$so" | grep -q ' T gst_plugin_' || echo "$so: exports no gst_plugin_ symbol"
  done
}

check_needed() {
  [ -n "$(plugins)" ] || { echo "no plugin in $build/gst"; return 77; }
  plugins | while read -r so; do
    readelf -d "$so" | grep NEEDED | grep -E 'libcuda|libcudart|libnv|libgtest' | sed "s|^|$so: |"
  done
}

check_shell() {
  files '*.sh' '.ci/run' | xargs -n1 bash -n 2>&1
  files '*.py' | xargs -r python3 -c 'import ast, sys
for name in sys.argv[1:]:
    ast.parse(open(name, encoding="utf-8").read(), name)' 2>&1 | tail -3
}

check_tidy() {
  command -v run-clang-tidy >/dev/null || { echo "clang-tidy is not installed"; return 77; }
  [ -f "$build/compile_commands.json" ] || { echo "no compile commands in $build"; return 77; }
  local log status
  log="$(mktemp)"
  run-clang-tidy -p "$build" -quiet -j "$(nproc)" "^$PWD/(kernels|gst|examples|tests)/" >"$log" 2>&1
  status=$?
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '(error|warning):' | sort -u | head -30
  [ $status = 0 ] || grep -qE '(error|warning):' "$log" || { echo "clang-tidy ended with status $status:"; tail -5 "$log"; }
  grep -q '^clang-tidy' "$log" || echo "clang-tidy found no files in $build/compile_commands.json"
  rm -f "$log"
}

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- format text length words headers layers symbols needed shell tidy
for check in "$@"; do
  found="$(check_"$check")"
  status=$?
  if [ $status = 77 ]; then
    skipped=$((skipped + 1))
    echo "skipped $check: $found"
  elif [ -n "$found" ]; then
    failed=$((failed + 1))
    echo "FAILED $check:"
    printf '%s\n' "$found" | sed 's/^/  /'
  else
    passed=$((passed + 1))
    echo "ok $check"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
