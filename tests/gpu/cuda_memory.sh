#!/bin/bash
# memory:CUDAMemory on either side of the element, in all combinations and formats, gives the bytes that system memory
# gives. GST_PLUGIN_PATH names the plugin's folder. Usage: cuda_memory.sh [CLIP.mp4 (H.264)]. Exits 77 where GStreamer's
# CUDA elements are not there.
set -u
for element in cudaupload cudadownload videodenoise; do
  gst-inspect-1.0 "$element" >/dev/null 2>&1 || { echo "skipped: no element $element"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cuda='video/x-raw(memory:CUDAMemory)'
passed=0 failed=0

verdict() {
  if [ "$2" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "$2: $1"
}

# play NAME PIPELINE...: runs it into $folder/NAME.
play() {
  local name=$1
  shift
  timeout 60 gst-launch-1.0 -q "$@" ! filesink location="$folder/$name" >"$folder/log" 2>&1 && return
  grep -m3 -iE 'error|warn' "$folder/log"
  return 1
}

# compare NAME PIPELINE...: its bytes are those of $folder/wanted.
compare() {
  local name=$1
  shift
  rm -f "$folder/got"
  if play got "$@" && [ -s "$folder/got" ] && cmp "$folder/wanted" "$folder/got"; then verdict "$name" ok; else verdict "$name" FAILED; fi
}

source="videotestsrc num-buffers=12 pattern=zone-plate kx2=20 ky2=20 kt=3 ! video/x-raw,format=NV12,width=640,height=360"
one="videodenoise backend=cuda filter=gaussian" two="videodenoise backend=cuda filter=median"
# shellcheck disable=SC2086
{
  play wanted $source ! $one ! video/x-raw ! queue ! video/x-raw ! $two ! video/x-raw
  compare "two in a row, CUDA between" $source ! $one ! "$cuda" ! $two ! video/x-raw
  compare "two in a row, left to themselves" $source ! $one ! $two ! video/x-raw
  if timeout 60 gst-launch-1.0 -v $source ! $one ! $two ! fakesink 2>&1 |
    grep 'videodenoise0.GstPad:src' | grep -q CUDAMemory; then
    verdict "two in a row pass CUDAMemory" ok
  else
    verdict "two in a row pass CUDAMemory" FAILED
  fi
}

if [ $# -gt 0 ] && gst-inspect-1.0 nvh264dec >/dev/null 2>&1; then
  decode="filesrc location=$1 ! qtdemux ! h264parse ! nvh264dec"
  # shellcheck disable=SC2086
  for filter in gaussian wavelet; do
    denoise="videodenoise backend=cuda filter=$filter"
    play wanted $decode ! video/x-raw ! $denoise ! video/x-raw
    compare "NVDEC $filter, CUDA in" $decode ! "$cuda" ! $denoise ! video/x-raw
    compare "NVDEC $filter, CUDA both" $decode ! "$cuda" ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
    compare "NVDEC $filter, left to themselves" $decode ! $denoise ! video/x-raw
  done
else
  echo "not run: NVDEC (no clip, or no element nvh264dec)"
fi
# NV12 and RGB in every combination with several filters, the others as their layouts differ.
for format in NV12 RGB I420 YV12 NV21 Y444 Y42B I420_10LE P010_10LE BGR RGBx BGRA ARGB; do
  for filter in gaussian wavelet none; do
    case $filter-$format in
      *-NV12 | *-RGB) size=640x360 all=yes ;;
      gaussian-*) size=321x241 all=no ;;
      *) continue ;;
    esac
    source="videotestsrc num-buffers=12 pattern=zone-plate kx2=20 ky2=20 kt=3 ! video/x-raw,format=$format,width=${size%x*},height=${size#*x},framerate=60/1"
    denoise="videodenoise backend=cuda filter=$filter"
    # shellcheck disable=SC2086
    {
      play wanted $source ! $denoise ! video/x-raw || { verdict "$format $filter, system memory" FAILED; continue; }
      compare "$format $filter, CUDA both" $source ! cudaupload ! "$cuda" ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
      [ $all = yes ] || continue
      compare "$format $filter, CUDA in" $source ! cudaupload ! "$cuda" ! $denoise ! video/x-raw
      compare "$format $filter, CUDA out" $source ! $denoise ! "$cuda" ! cudadownload ! video/x-raw
    }
  done
done

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
