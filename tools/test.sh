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
# Of the preset sanitize: leaks of libraries that are not ours.
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks.supp:print_suppressions=0"
exec ctest --preset "$preset" --parallel "$(nproc)" "$@"
