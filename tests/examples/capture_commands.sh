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
