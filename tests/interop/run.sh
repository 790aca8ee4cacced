#!/usr/bin/env bash
# The library beside Python's array libraries. Without python3 there is nothing to test; libraries that python3 lacks are
# left out one by one. SINTER_TEST_PYTHON names another interpreter.
# Usage: run.sh BRIDGE
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${SINTER_TEST_PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
  echo "left out: there is no $python"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi
# What the bridge shows besides its own functions, other libraries of the process would take for theirs (bridge.map).
if command -v nm >/dev/null && shown=$(nm -D --defined-only "$1" | grep -v ' sinter_'); then
  echo "FAILED: the bridge exports more than its functions: $(head -n 3 <<<"$shown" | tr '\n' ';')"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/interop.py" "$1"
