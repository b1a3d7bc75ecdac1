# The Debian and Ubuntu packages that building, testing and the examples need, and a function that installs the missing ones.
# Sourced by tests/run.sh, tests/lint/run.sh, examples/quickstart.sh and .ci/run.

packages_build="g++ meson ninja-build pkg-config python3 libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libhwy-dev libcli11-dev libfmt-dev libpng-dev libtiff-dev libjpeg-dev"
packages_run="gstreamer1.0-tools gstreamer1.0-x gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav"
packages_tests="libgtest-dev libbenchmark-dev libdcmtk-dev libnifti2-dev python3-gi gir1.2-gst-plugins-base-1.0 python3-numpy python3-pil python3-matplotlib ffmpeg
  xvfb xdotool"
packages_lint="clang-format clang-tidy binutils"

# install_packages NAME...: installs what is missing, and says what that is. Needs root or sudo only then.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: this is not Debian or Ubuntu; these (or your system's names for them) must be there: $*"
    return 0
  fi
  local name missing=""
  for name in "$@"; do
    case "$(dpkg-query -W -f='${Status}' "$name" 2>/dev/null)" in
      *"ok installed") ;;
      *) missing="$missing $name" ;;
    esac
  done
  if [ -z "$missing" ]; then
    echo "packages: all $# are installed"
    return 0
  fi
  local root=""
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "packages: run this as root, then try again: apt-get install -y --no-install-recommends$missing" >&2
      return 1
    fi
    root="sudo"
  fi
  echo "packages: installing$missing"
  $root apt-get update -q </dev/null >/dev/null || echo "packages: apt-get update failed; trying with the lists that are there" >&2
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing </dev/null >/dev/null
}

# find_nvcc: prints the path of nvcc; fails where there is none. The same two places as kernels/meson.build.
find_nvcc() {
  command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }
}

# gpu_archs: the compute capabilities of the GPUs here as SM versions ("90,120"); empty without a working driver.
gpu_archs() {
  command -v nvidia-smi >/dev/null || return 0
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -E '^[0-9]+$' | sort -un | paste -sd, -
}
