#!/bin/bash
# The capture application in a window of a virtual display: the split view shows noise on the left and less of it on the right, and keys
# pressed in the window change the filter. usage: capture_window.sh CAPTURE [SCREENSHOT.png [CAPTURE-ARGUMENT...]]; without arguments it
# plays a clip of noise. Exits 77 without Xvfb, xdotool and ffmpeg.
set -eu
for program in Xvfb xdotool ffmpeg; do
  command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
folder=$(mktemp -d)
screenshot=${2:-$folder/screenshot.png}
capture=$1
shift $(($# < 2 ? $# : 2))
if [ $# = 0 ]; then
  head -c $((320 * 240 * 30)) /dev/urandom >"$folder/clip.raw"
  set -- "$folder/clip.raw" video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1
fi
exec 3<>"$folder/number"
Xvfb -displayfd 3 -screen 0 640x512x24 -nolisten tcp -noreset >"$folder/xvfb.txt" 2>&1 &
server=$! application=
stop() {
  kill ${application:+"$application"} "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
for _ in $(seq 100); do
  [ -s "$folder/number" ] && break
  sleep 0.1
done
DISPLAY=:$(cat "$folder/number")
export DISPLAY

# DirectFB's and OpenGL's sinks are left out: this display has neither.
GST_PLUGIN_FEATURE_RANK=ximagesink:MAX,xvimagesink:NONE,glimagesink:NONE,dfbvideosink:NONE,waylandsink:NONE \
  "$capture" "$@" --split --filter gaussian --set gaussian-sigma=2 --backend "${QF_TEST_BACKEND:-cpu}" --statistics 0.5 --seconds 100 \
  </dev/null >"$folder/said.txt" 2>&1 &
application=$!
# wait_for TEXT: until the application has said it.
wait_for() {
  for _ in $(seq 600); do
    grep -q -- "$1" "$folder/said.txt" && return
    kill -0 "$application" 2>/dev/null || break
    sleep 0.1
  done
  echo "the application never said \"$1\":"
  cat "$folder/said.txt"
  exit 1
}
wait_for 'gaussian: in [0-9]*, out [1-9]'
window=$(timeout 20 xdotool search --sync --onlyvisible --name '.' | head -1)
xdotool windowfocus "$window" mousemove --window "$window" 16 16
sleep 1
ffmpeg -v error -y -f x11grab -video_size 640x512 -i "$DISPLAY" -frames:v 1 "$screenshot"
xdotool key --window "$window" f
wait_for 'filter=median'
xdotool key --window "$window" minus
wait_for 'strength=0.9'
xdotool key --window "$window" q
for _ in $(seq 300); do
  kill -0 "$application" 2>/dev/null || break
  sleep 0.1
done
if kill -0 "$application" 2>/dev/null; then
  echo "the key q did not end it"
  exit 1
fi
ffmpeg -v error -i "$screenshot" -f rawvideo -pix_fmt gray "$folder/screenshot.gray"
python3 - "$folder/screenshot.gray" <<'PYTHON'
import sys

WIDTH, HEIGHT = 640, 512
pixels = open(sys.argv[1], "rb").read()
rows = [pixels[y * WIDTH:(y + 1) * WIDTH] for y in range(HEIGHT)]
lit = [y for y in range(HEIGHT) if max(rows[y]) > 8]
if not lit:
    sys.exit("the window is black")
columns = [x for x in range(WIDTH) if max(rows[y][x] for y in lit) > 8]
left, right = columns[0], columns[-1] + 1
middle = (left + right) // 2


def roughness(begin, end):
    """The mean difference of neighbours: noise, and what is left of it."""
    return sum(abs(rows[y][x] - rows[y][x + 1]) for y in lit for x in range(begin, end - 1)) / (len(lit) * (end - begin - 1))


before, after = roughness(left, middle - 4), roughness(middle + 4, right)
print(f"a view of {right - left}x{len(lit)}: neighbours differ by {before:.1f} on the left, {after:.1f} on the right")
if not after < 0.6 * before:
    sys.exit("the right half is not smoother than the left")
PYTHON
