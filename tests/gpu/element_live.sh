#!/bin/bash
# The element live on a GPU: region and previews in parity, latency of every filter at 60 frames/s beside upload, conversion and
# download alone, sixteen elements at once, and a soak at 1080p60 whose memory, threads and latency are to stay flat. Nine minutes, and
# ten for the soak, which runs beside all that and goes on when the rest is over.
# usage: element_live.sh BUILD OUT [SECONDS-A-ROW [SOAK-SECONDS]]
#        element_live.sh --soak OUT      what has come of the soak: waits for its end
# With QF_LEAVE_SOAK=yes the first form does not wait for the soak. PEER names the elements that are measured beside ours.
set -u
soak_report() {
  while [ -d "/proc/$(cat "$1/soak.pid")" ]; do sleep 1; done
  echo "== soak at 1080p60"
  cat "$1/soak.txt"
  awk -F, 'NR > 2 { n++; split($0, f, ","); for (i = 4; i <= 10; i++) { if (n == 1 || f[i] < low[i]) low[i] = f[i]; if (n == 1 || f[i] > high[i]) high[i] = f[i] } }
    END { print n " windows: frames " low[4] ".." high[4] ", drops " low[5] ".." high[5] ", p50 " low[6] ".." high[6] " us, p99 " low[7] ".." high[7] \
          " us, max " low[8] ".." high[8] " us, resident " low[9] ".." high[9] " MiB, threads " low[10] ".." high[10] }' "$1/soak-timeline.csv"
  cat "$1/soak-device-memory.txt"
}
if [ "$1" = --soak ]; then
  soak_report "$2"
  exit 0
fi

build=$(cd "$1" && pwd) out=$2 row=${3:-60} soak=${4:-600}
mkdir -p "$out"
out=$(cd "$out" && pwd)
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH} GST_REGISTRY_1_0=$out/registry.bin
backend=${QF_TEST_BACKEND:-cuda} peer=${PEER:-cudaupload ! cudaconvert ! cudadownload}
latency="${QF_RUN:-} $build/examples/latency --backend $backend"
videos=${QF_VIDEOS:-512x512:GRAY8,1920x1080:NV12,3840x2160:P010_10LE}
full=$(cut -d, -f2 <<<"$videos")
began=$SECONDS
say() { echo "== $((SECONDS - began)) s: $*"; }
gst-inspect-1.0 videodenoise >"$out/inspect.txt" 2>&1

say "soak at $full for $soak s, beside all that follows: its frames take turns with theirs"
# A session of its own: it may outlive the shell that began it.
# shellcheck disable=SC2086
setsid $latency --video "$full" --filter wavelet --seconds "$soak" --phase 0 --csv "$out/soak.csv" --timeline "$out/soak-timeline.csv" \
  </dev/null >"$out/soak.txt" 2>"$out/soak-progress.txt" &
soaking=$!
echo "$soaking" >"$out/soak.pid"
(
  while kill -0 "$soaking" 2>/dev/null; do
    echo "device memory, processes: $(nvidia-smi --query-compute-apps=used_memory --format=csv,noheader 2>/dev/null | tr '\n' ' ')"
    sleep 60
  done
) </dev/null >"$out/soak-device-memory.txt" 2>/dev/null &

say "region, mask and previews"
# shellcheck disable=SC2086
timeout 60 ${QF_RUN:-} "$build/tests/parity-test" --backend="$backend" --gtest_filter='*Finish*' --gtest_brief=1 >"$out/finish.txt" 2>&1
tail -3 "$out/finish.txt"
GST_DEBUG=videodenoise:4 timeout 30 gst-launch-1.0 -q videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=1920,height=1080 \
  ! videodenoise backend="$backend" roi="<100,100,600,400>" preview=split ! fakesink >"$out/log-lines.txt" 2>&1
grep -aE "backend|memory path" "$out/log-lines.txt"

# Frames of the sizes take turns within the interval, so that they do not wait for each other on the GPU.
beside="--side-by-side --phase 0.25"
say "latency, live at 60 frames/s, $row s a row, the sizes side by side"
# shellcheck disable=SC2086
timeout $((row * 8 + 60)) $latency --video "$videos" $beside --seconds "$row" --against "$peer" --csv "$out/table.csv" --samples "$out/samples.csv"
# shellcheck disable=SC2086
timeout 40 $latency --video "$videos" $beside --seconds $((row < 10 ? row : 10)) --filter wavelet --against identity --csv "$out/short.csv"
say "one size at a time: what it costs the figures above that they ran side by side"
# shellcheck disable=SC2086
timeout 60 $latency --video "$videos" --phase 0.5 --seconds $((row < 8 ? row : 8)) --filter wavelet --csv "$out/alone.csv"
say "1080p wavelet: what region, preview and ordinary memory cost"
for extra in "--set strength=1" "--set roi=<200,200,800,600>" "--set preview=split" "--set preview=difference" "--system-memory"; do
  # shellcheck disable=SC2086
  echo "$extra: $(timeout 15 $latency --phase 0.5 --video "$full" --filter wavelet --seconds 2 --warmup 0.5 $extra 2>&1 | tail -1)"
done
for video in ${videos//,/ }; do
  say "sixteen at once, $video"
  # shellcheck disable=SC2086
  timeout 60 $latency --video "$video" --filter wavelet --instances 16 --seconds $((row < 8 ? row : 8)) --csv "$out/sixteen-${video#*:}.csv"
done
rm -f "$out/registry.bin"
gzip -f "$out/samples.csv"
say "done"
[ "${QF_LEAVE_SOAK:-}" = yes ] || soak_report "$out"
