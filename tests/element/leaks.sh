#!/bin/bash
# Runs element tests under GStreamer's leaks tracer: fails when an object, buffer, caps or pool is alive at the end.
# usage: leaks.sh TEST-PROGRAM [GTEST-FILTER]
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log "$1" --gtest_filter="${2:-*}" || exit 1
grep -q leaks "$log" || { echo "leaks.sh: the leaks tracer did not run"; exit 1; }
if grep -a "object-alive, type-name=(string)" "$log" | grep -av "new format string" | head -20 | grep .; then
  echo "leaks.sh: alive at the end, see above"
  exit 1
fi
