#!/usr/bin/env bash
# Non-local means beside FFmpeg's nlmeans with the same windows (5x5 patches, 15x15 search) at 1080p gray, on the same CPUs.
# usage: tests/bench/beside_ffmpeg.sh BUILD [FRAMES]   BUILD: a build folder that has tests/filters-bench
set -euo pipefail
build="${1:?usage: tests/bench/beside_ffmpeg.sh BUILD [FRAMES]}"
frames="${2:-8}"
threads="$(nproc)"
clip="$(mktemp --suffix=.gray)"
trap 'rm -f "$clip"' EXIT

ffmpeg -v error -y -f lavfi -i testsrc2=s=1920x1080:r=25 -vf noise=alls=20:allf=t,format=gray -frames:v "$frames" -f rawvideo "$clip"

seconds() { # of ffmpeg with filter $1
  TIMEFORMAT='%R %U %S'
  { time ffmpeg -v error -filter_threads "$threads" -f rawvideo -pixel_format gray -video_size 1920x1080 -i "$clip" -vf "$1" -f null -; } 2>&1 | tail -1
}

read -r wall user system <<< "$(seconds nlmeans=s=3:p=5:r=15)"
read -r idle _ _ <<< "$(seconds null)"
awk -v n="$frames" -v w="$wall" -v i="$idle" -v u="$user" -v s="$system" -v t="$threads" 'BEGIN {
  printf "FFmpeg nlmeans=p=5:r=15: %.2f frames/s on %d threads; %.0f ms of CPU time a frame\n", n / (w - i), t, 1000 * (u + s) / n }'
"$build/tests/filters-bench" --threads="$threads" --benchmark_filter='^cpu/nlm/h=20/GRAY8/1920x1080/in-flight:1/' --benchmark_format=csv 2> /dev/null |
  awk -F, '/^"cpu/ { printf "quietframe nlm patch 2, search 7: %.2f frames/s; %.0f ms of CPU time a frame\n", 1000 / $3, $4 }'
