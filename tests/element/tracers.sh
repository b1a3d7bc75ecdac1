#!/bin/bash
# Runs the element under GStreamer's tracers: each must see it, and find every frame, a sane latency and no leak.
# usage: tracers.sh
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log
play() {
  : > "$log"
  GST_TRACERS="$1" gst-launch-1.0 -q videotestsrc is-live=true num-buffers=30 ! video/x-raw,format=NV12,width=160,height=120,framerate=60/1 \
    ! videodenoise name=d filter=gaussian backend=cpu ! fakesink sync=false
}
fail() { echo "tracers.sh: $1"; exit 1; }

play "latency(flags=pipeline+element+reported);stats;rusage"
grep -aq 'element-latency, element-id=.*element=(string)d, ' "$log" || fail "the latency tracer did not measure the element"
grep -aq 'element-reported-latency, element-id=.*element=(string)d, ' "$log" || fail "no reported latency"
# A probe event that overtook its frame would show no time at all.
grep -a 'element-latency, element-id=.*element=(string)d, ' "$log" | grep -oE 'time=\(guint64\)[0-9]+' | cut -d')' -f2 |
  awk '{ n++; if ($1 < 1000) low++; if ($1 > 1000000000) high++ } END { exit !(n >= 25 && low <= n / 10 && high == 0) }' ||
  fail "element latencies are not those of 30 frames"
grep -aq ' buffer, ' "$log" || fail "the stats tracer saw no buffer"
grep -aq 'thread-rusage' "$log" || fail "no rusage"
# On its own: the latency tracer keeps a reference to the sink, whatever the pipeline.
play leaks
grep -aq leaks "$log" || fail "the leaks tracer did not run"
if grep -a "object-alive, type-name=(string)" "$log" | grep -av "new format string" | head -5 | grep .; then fail "alive at the end, see above"; fi
echo "latency, stats, rusage and leaks tracers: fine"
