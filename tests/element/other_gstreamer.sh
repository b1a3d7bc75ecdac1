#!/bin/bash
# Runs the same plugin file and the same element tests, or another command, with the GStreamer of another Debian, unpacked into a folder.
# usage: other_gstreamer.sh ROOT BUILD [GTEST-ARGUMENT...]
#        other_gstreamer.sh ROOT BUILD -- COMMAND...      gst-launch-1.0 and gst-inspect-1.0 are ROOT's; $QF_RUN before any other program
# ROOT is filled like this (with lists of the wanted release and an empty status file in apt's configuration; nothing is installed):
#   apt-get install --download-only libgstreamer1.0-0 gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
#     gstreamer1.0-plugins-bad libpng16-16t64 libhwy1t64 libstdc++6 libc6 libgcc-s1
#   for deb in *.deb; do dpkg-deb -x "$deb" ROOT; done
set -eu
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
shift 2
lib=$root/usr/lib/x86_64-linux-gnu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GST_PLUGIN_SYSTEM_PATH_1_0=$lib/gstreamer-1.0 GST_PLUGIN_PATH=$build/gst GST_REGISTRY_1_0=$folder/registry.bin GST_REGISTRY_FORK=no
export GST_PLUGIN_FEATURE_RANK=dfbvideosink:NONE
unset GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH
# Its C library too, so what is in LD_LIBRARY_PATH comes after, and other programs do not see any of it.
libraries=$lib:$lib/pulseaudio:$lib/blas:$lib/lapack${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export QF_RUN="$lib/ld-linux-x86-64.so.2 --library-path $libraries"
for tool in gst-launch-1.0 gst-inspect-1.0; do
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$QF_RUN" "$root/usr/bin/$tool" >"$folder/$tool"
  chmod +x "$folder/$tool"
done
PATH=$folder:$PATH
gst-inspect-1.0 --version | sed -n 2p
gst-inspect-1.0 videodenoise >/dev/null
if [ "${1:-}" = -- ]; then
  shift
  "$@"
else
  $QF_RUN "$build/tests/element/element-test" --gtest_brief=1 "$@"
fi
