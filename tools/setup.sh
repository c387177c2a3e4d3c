#!/usr/bin/env bash
# Installs what Tidemark needs from the distribution's packages: Debian 12 and later, Ubuntu 24.04
# and later. Asks nothing. Does nothing, and needs no network, when nothing is missing. Without root
# it prints the line to run and exits with status 1.
set -euo pipefail

packages=(
  g++ cmake ninja-build           # compiler and build
  libboost-dev                    # Boost.Graph is headers only
  coinor-libcbc-dev               # plans by integer programming
  libyaml-cpp-dev                 # scenarios and catalogues
  libcli11-dev nlohmann-json3-dev libfmt-dev  # command line and output formats
  libcairo2-dev                   # figures of `tidemark plot`; brings a font
  libceres-dev                    # robust least squares of `tidemark calibrate`
  ca-certificates                 # to fetch the charts of report.html (tools/cmake/Echarts.cmake)
  catch2                          # tests
)

if ! command -v dpkg-query >/dev/null; then
  echo "tools/setup.sh knows Debian and Ubuntu only; what Tidemark needs is, by Debian's names:" >&2
  echo "  ${packages[*]}" >&2
  exit 0  # it may all be there: CMake says what is not
fi

missing=()
for package in "${packages[@]}"; do
  # "ii": installed and configured
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ii* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) -ne 0 ]]; then
  echo "Tidemark needs packages that are not installed. Run this line, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt_get() {
  apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1
then
  cat "$log" >&2
  echo "tools/setup.sh: installing ${missing[*]} failed" >&2
  exit 1
fi
