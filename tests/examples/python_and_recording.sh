#!/bin/sh
# The Python example changes its filter from standard input while it plays; the capture application records a clip to Matroska, and that
# file is a source for it. usage: python_and_recording.sh CAPTURE DENOISE.py
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; cat "$folder"/*.txt; exit 1; }

if python3 -c 'import gi; gi.require_version("Gst", "1.0"); from gi.repository import Gst' 2>/dev/null; then
  mkfifo "$folder/lines"
  timeout 60 python3 "$2" --headless --filter gaussian <"$folder/lines" >"$folder/python.txt" 2>&1 &
  python=$!
  exec 4>"$folder/lines"
  # said TEXT: waits until the example has said it.
  said() {
    for _ in $(seq 300); do
      grep -q -- "$1" "$folder/python.txt" && return
      sleep 0.1
    done
    fail "the Python example never said \"$1\""
  }
  said 'filter gaussian: [1-9]'
  printf 'median\nstrength=0.5\n' >&4
  said 'filter median: [1-9]'
  exec 4>&-
  kill "$python"
  wait "$python" 2>/dev/null || true
else
  echo "not run: the Python example (no python3-gi)"
fi

head -c $((160 * 120 * 30)) /dev/urandom >"$folder/clip.raw"
timeout 60 "$1" "$folder/clip.raw" video/x-raw,format=GRAY8,width=160,height=120,framerate=30/1 --headless --seconds 2 --backend cpu --filter median \
  --encoder "jpegenc" --record "$folder/recorded.mkv" </dev/null >"$folder/record.txt" 2>&1 || fail "recording failed"
written="$(sed -n 's/.* out \([0-9]*\),.*/\1/p' "$folder/record.txt" | tail -1)"
# Its last line: what came out of the file, played to its end.
timeout 60 "$1" "$folder/recorded.mkv" --headless --backend cpu --filter gaussian </dev/null >"$folder/played.txt" 2>&1 || fail "the recording cannot be played"
played="$(sed -n 's/.* in \([0-9]*\), out.*/\1/p' "$folder/played.txt" | tail -1)"
echo "$written frames recorded, $played played"
[ "$written" -ge 30 ] && [ "$played" = "$written" ] || fail "not every frame was recorded"
