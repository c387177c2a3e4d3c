#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json: tools/build.sh PRESET [TARGET…].
# Quiet: the build's output goes to stderr, and in full only when it fails or to a terminal.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift
targets=("${@:-all}")
build="$root/build/$preset"
mkdir -p "$build"
log="$build/build.log"

quietly() {
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "failed: $*" >&2
    exit 1
  fi
}

cd "$root"
quietly cmake --preset "$preset"
if [[ -t 2 ]]; then
  cmake --build "$build" --target "${targets[@]}" >&2
else
  quietly cmake --build "$build" --target "${targets[@]}"
fi
