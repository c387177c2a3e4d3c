#!/usr/bin/env bash
# Measures Tidemark's event queue, links and executor against SimGrid and SimPy from the
# distribution's packages, in one run, and prints medians and ratios. Exit status 1: an aim is missed.
#
# Usage: tools/bench/compare.sh [ROUNDS]      (7 unless given; about half a minute a round)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="${TIDEMARK_BENCH_BUILD:-$root/build/bench}"
packages="g++ cmake ninja-build libbenchmark-dev libsimgrid-dev libboost-dev python3-simpy"

missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" ||
    missing="$missing $package"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2086
    apt-get install -y --no-install-recommends $missing >&2
  else
    echo "run this first: sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 2
  fi
fi

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTIDEMARK_BENCHMARKS=ON \
  -DTIDEMARK_TESTS=OFF >&2
cmake --build "$build" --target event_queue_bench links_bench executor_bench >&2
programs="$build/compare"
mkdir -p "$programs"
for bench in event_queue_bench links_bench executor_bench; do
  cp "$(find "$build" -name "$bench" -type f -perm -u+x | grep -v "^$programs/" | head -n 1)" \
    "$programs/"
done
for rival in simgrid_timers simgrid_links; do
  g++ -std=c++20 -O2 -I"$root" "$root/tools/bench/rivals/$rival.cpp" -o "$programs/$rival" \
    -lsimgrid >&2
done
exec /usr/bin/python3 "$root/tools/bench/rivals/compare.py" "$programs" "${1:-7}"
