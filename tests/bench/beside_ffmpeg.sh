#!/usr/bin/env bash
# Non-local means beside FFmpeg's nlmeans with the same windows (5x5 patches, 15x15 search) at 1080p gray, on the same CPUs.
# usage: tests/bench/beside_ffmpeg.sh BUILD [FRAMES [ROUNDS]]   BUILD: a build folder that has tests/filters-bench
#
# The two take turns, ROUNDS times. Rates are wall-clock and suffer from whatever else the machine does; the CPU time of a
# frame (user and system, all threads) suffers less. FFmpeg's start-up and reading, timed with the filter null, are taken off.
set -euo pipefail
build="${1:?usage: tests/bench/beside_ffmpeg.sh BUILD [FRAMES [ROUNDS]]}"
frames="${2:-4}"
rounds="${3:-3}"
threads="$(nproc)"
clip="$(mktemp --suffix=.gray)"
trap 'rm -f "$clip"' EXIT

ffmpeg -v error -y -f lavfi -i testsrc2=s=1920x1080:r=25 -vf noise=alls=20:allf=t,format=gray -frames:v "$frames" -f rawvideo "$clip"

ffmpeg_seconds() { # wall and CPU of filter $1
  TIMEFORMAT='%R %U %S'
  { time ffmpeg -v error -filter_threads "$threads" -f rawvideo -pixel_format gray -video_size 1920x1080 -i "$clip" -vf "$1" -f null -; } 2>&1 |
    awk 'END { print $1, $2 + $3 }'
}

ours_milliseconds() { # wall and CPU of a frame
  "$build/tests/filters-bench" --threads="$threads" --benchmark_filter='^cpu/nlm/h=20/GRAY8/1920x1080/in-flight:1/' \
    --benchmark_min_time=2 --benchmark_format=csv 2> /dev/null | awk -F, '/^"cpu/ { print $3, $4 }'
}

for ((i = 1; i <= rounds; ++i)); do
  read -r wall cpu <<< "$(ffmpeg_seconds nlmeans=s=3:p=5:r=15)"
  read -r idle_wall idle_cpu <<< "$(ffmpeg_seconds null)"
  read -r our_wall our_cpu <<< "$(ours_milliseconds)"
  awk -v n="$frames" -v w="$wall" -v c="$cpu" -v iw="$idle_wall" -v ic="$idle_cpu" -v ow="$our_wall" -v oc="$our_cpu" -v t="$threads" 'BEGIN {
    fw = 1000 * (w - iw) / n; fc = 1000 * (c - ic) / n
    printf "FFmpeg nlmeans %.2f frames/s, %.0f ms of CPU a frame; quietframe nlm %.2f frames/s, %.0f ms, on %d threads: %.1f times the rate, %.1f times less CPU\n",
      1000 / fw, fc, 1000 / ow, oc, t, fw / ow, fc / oc }'
done
