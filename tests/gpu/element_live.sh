#!/bin/bash
# The element live on a GPU: region and previews in parity, latency of every filter at 60 frames/s beside upload and download alone,
# sixteen elements at once, and a soak at 1080p60 whose memory, threads and latency are to stay flat. About four minutes.
# usage: element_live.sh BUILD OUT [SECONDS-A-ROW [SOAK-SECONDS]]
set -u
build=$(cd "$1" && pwd) out=$2 row=${3:-5} soak=${4:-120}
mkdir -p "$out"
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH} GST_REGISTRY_1_0=$out/registry.bin
latency=$build/examples/latency
trap 'rm -f "$out/registry.bin"' EXIT
gst-inspect-1.0 videodenoise >"$out/inspect.txt" 2>&1

echo "== region, mask and previews"
timeout 60 "$build/tests/parity-test" --backend=cuda --gtest_filter='*Finish*' --gtest_brief=1 >"$out/finish.txt" 2>&1
tail -3 "$out/finish.txt"
GST_DEBUG=videodenoise:4 timeout 30 gst-launch-1.0 -q videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=1920,height=1080 \
  ! videodenoise backend=cuda roi="<100,100,600,400>" preview=split ! fakesink >"$out/log-lines.txt" 2>&1
grep -aE "backend|memory path" "$out/log-lines.txt"

echo "== soak: 1080p60 for $soak s, beside all that follows"
timeout $((soak + 20)) "$latency" --backend cuda --video 1920x1080:NV12 --filter wavelet --seconds "$soak" --csv "$out/soak.csv" \
  --samples "$out/soak-samples.csv" >"$out/soak.txt" &
soaking=$!
(
  while kill -0 "$soaking" 2>/dev/null; do
    child=$(pgrep -P "$soaking" | head -1)
    awk '/VmRSS|Threads/ { printf "%s ", $2 } END { print "" }' "/proc/${child:-$soaking}/status"
    nvidia-smi --query-gpu=memory.used,utilization.gpu --format=csv,noheader
    sleep 5
  done >"$out/soak-status.txt" 2>/dev/null
) &

echo "== latency, live at 60 frames/s, $row s a row"
timeout 300 "$latency" --backend cuda --seconds "$row" --warmup 0.5 --against "cudaupload ! cudaconvert ! cudadownload" --against identity \
  --csv "$out/table.csv" --samples "$out/samples.csv"
echo "== 1080p wavelet: what region, preview and ordinary memory cost"
for extra in "--set strength=1" "--set roi=<200,200,800,600>" "--set preview=split" "--set preview=difference" "--system-memory"; do
  echo "$extra: $(timeout 15 "$latency" --backend cuda --video 1920x1080:NV12 --filter wavelet --seconds 2 --warmup 0.5 $extra 2>&1 | tail -1)"
done
echo "== sixteen at once"
timeout 40 "$latency" --backend cuda --video 512x512:GRAY8,1920x1080:NV12 --filter wavelet --instances 16 --seconds 5 --csv "$out/sixteen.csv"
wait "$soaking"
echo "== soak"
cat "$out/soak.txt"
sed -n '1,2p;$p' "$out/soak-status.txt"
gzip -f "$out"/*samples.csv
