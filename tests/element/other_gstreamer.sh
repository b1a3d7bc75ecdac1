#!/bin/bash
# Runs the same plugin file and the same element tests with the GStreamer of another Debian, unpacked into a folder.
# usage: other_gstreamer.sh ROOT BUILD [GTEST-ARGUMENT...]
# ROOT is filled like this (apt's configuration names the release; nothing is installed):
#   apt-get install --download-only libgstreamer1.0-0 gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
#     libpng16-16t64 libhwy1t64 libstdc++6 libc6 libgcc-s1
#   for deb in *.deb; do dpkg-deb -x "$deb" ROOT; done
set -eu
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
shift 2
lib=$root/usr/lib/x86_64-linux-gnu
registry=$(mktemp)
trap 'rm -f "$registry"' EXIT
export GST_PLUGIN_SYSTEM_PATH_1_0=$lib/gstreamer-1.0 GST_PLUGIN_PATH=$build/gst GST_REGISTRY_1_0=$registry GST_REGISTRY_FORK=no
export GST_PLUGIN_FEATURE_RANK=dfbvideosink:NONE
run() { "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/pulseaudio:$lib/blas:$lib/lapack" "$@"; }
run "$root/usr/bin/gst-inspect-1.0" --version
run "$root/usr/bin/gst-inspect-1.0" videodenoise >/dev/null
run "$build/tests/element/element-test" --gtest_brief=1 "$@"
