#!/bin/sh
# The plugin must load where there is no driver and no toolkit: nothing of CUDA among the libraries it needs (the
# runtime is linked in and opens the driver when it is first called), and no symbol but the plugin's own exported.
# Usage: plugin_links.sh PLUGIN.so
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if [ -z "$needed" ]; then echo "readelf names no needed library of $1: wrong file?"; exit 1; fi
if echo "$needed" | grep -i -E 'cuda|nv'; then echo "needed by $1, but absent without an NVIDIA driver"; exit 1; fi
# Weak ones are the C++ library's templates.
extra=$(nm -D --defined-only "$1" | awk '$2 !~ /[WVu]/ && $3 !~ /^gst_plugin_/ { print $3 }')
if [ -n "$extra" ]; then echo "exported by $1 beside gst_plugin_*:"; echo "$extra"; exit 1; fi
echo "needs: $needed" | tr '\n' ' '
