#!/bin/bash
# Feeds leaks to leaks.sh: it must pass a program without one, and fail, naming what is alive, for each kind.
# usage: leaks_seen.sh LEAKS-TEST
set -u
here=$(dirname "$0")
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"  # not by the sanitizer: by the tracer
if ! text=$("$here/leaks.sh" "$1" Leak.Nothing 2>&1); then
  echo "leaks_seen.sh: fails without a leak:"
  echo "$text"
  exit 1
fi
for kind in Buffer Caps Element; do
  case $kind in Element) type=GstVideoDenoise ;; *) type=Gst$kind ;; esac
  if text=$("$here/leaks.sh" "$1" "Leak.$kind" 2>&1); then
    echo "leaks_seen.sh: did not see a leak of a $type"
    exit 1
  fi
  case "$text" in
    *"type-name=(string)$type"*"alive at the end"*) echo "saw the leak of a $type" ;;
    *) echo "leaks_seen.sh: failed, but not for the leak of a $type:"; echo "$text"; exit 1 ;;
  esac
done
