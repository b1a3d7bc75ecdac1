#!/bin/sh
# Changes the filter of the running capture application from its standard input, and gets told of bad commands.
set -eu
out="$(printf 'filter gaussian\nstrength 0.5\nset nope=1\nfrobnicate\n' | "$1" test --headless --seconds 1 --backend cpu 2>/dev/null)"
for expected in 'filter=gaussian' 'strength=0.5' 'no property nope' '"frobnicate" is no command' 'gaussian: in'; do
  case "$out" in
    *"$expected"*) ;;
    *) printf 'not said: %s\n%s\n' "$expected" "$out" >&2; exit 1 ;;
  esac
done
# A raw clip in the split view is played at its frame rate, and ends when it is asked to.
clip="$(mktemp)"
trap 'rm -f "$clip"' EXIT
head -c 30720 /dev/urandom > "$clip"
out="$(timeout 60 "$1" "$clip" video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 --headless --split --seconds 2 \
  --backend cpu --filter gaussian 2>/dev/null </dev/null)" || { echo "the split view of a clip did not end" >&2; exit 1; }
in="$(printf '%s\n' "$out" | sed -n 's/.*gaussian: in \([0-9]*\),.*/\1/p' | tail -1)"
[ "$in" -ge 20 ] && [ "$in" -le 120 ] || { echo "2 s of a clip of 30 frames/s were $in frames" >&2; exit 1; }
