#!/usr/bin/env bash
# Sets up, builds with warnings as errors, and runs every test through ctest.
#   tools/test.sh [PRESET] [CTEST OPTION…]     PRESET is dev unless given (CMakePresets.json)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-dev}
[[ $# -eq 0 ]] || shift

"$root/tools/setup.sh"
"$root/tools/build.sh" "$preset"
cd "$root"
exec ctest --preset "$preset" --parallel "$(nproc)" "$@"
