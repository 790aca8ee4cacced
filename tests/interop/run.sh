#!/usr/bin/env bash
# The library beside Python's array libraries. A python3 without NumPy has nothing to test with; other libraries that it
# lacks are left out one by one. The first python3 may be one that somebody built, and the distribution's packages serve
# the one in /usr/bin. SINTER_TEST_PYTHON names another interpreter.
# Usage: run.sh BRIDGE
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=
for candidate in ${SINTER_TEST_PYTHON:-python3 /usr/bin/python3}; do
  if "$candidate" -c 'import numpy' >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "left out: no ${SINTER_TEST_PYTHON:-python3} with NumPy (python3-numpy)"
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
