#!/usr/bin/env bash
# The table that puts sinter's and the peers' times next to each other: which goals are reached, which stay open.
set -u
here=$(cd "$(dirname "$0")" && pwd)
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
passed=0 failed=0

cat >"$box/sinter" <<'LOG'
cuda:0, a GPU

| work | ms | goal | scratch, x input | its limit | 1e9 inputs/s |
| --- | ---: | --- | ---: | ---: | ---: |
| sort, 2^28 | 6.9000 | <= 7 ms | 1.10 | 1.2 | 40 |
| argsort, 2^28 | 10.6000 | <= 1.05 x CuPy | 2.30 | 2.2 | 20 |
| x[x > 0.5], 2^28 | 1.2 | <= 0.9 ms | 0.30 | | 200 |
| take, 2^26 | 1.5 | <= 1 x CuPy | 0.00 | | 40 |
| rows | 20.0 | <= 0.5 x CuPy | 0.00 | | 10 |
| unique | [unique] out of memory | <= 1 x CuPy | | | |
| cumsum | 1.0 | | 0.00 | | 10 |

The algorithms by themselves

| work | ms | rate |
| --- | ---: | ---: |
| sort, 2^28 | 5.0 | 1 Gkeys/s |
LOG
cat >"$box/peers" <<'LOG'
| library | work | ms | scratch, x input |
| --- | --- | ---: | ---: |
| CuPy 14.2.0 | sort, 2^28 | 7.0 | 2.00 |
| CuPy 14.2.0 | argsort, 2^28 | 10.0 | 6.00 |
| CuPy 14.2.0 | take, 2^26 | OutOfMemoryError: no | |
| CuPy 14.2.0 | rows | 40.0 | 2.00 |
| CuPy 14.2.0 | unique | 9.0 | 2.00 |
| torch 2.11.0 | sort, 2^28 | 30.0 | 1.00 |
| torch 2.11.0 | renamed | 1.0 | 1.00 |
LOG
output=$(awk -f "$here/../bench/beside.awk" "$box/sinter" "$box/peers")
has() {
  if grep -qxF -- "$1" <<<"$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: no line "%s"\n' "$1"
  fi
}
has '| work | sinter | CuPy 14.2.0 | torch 2.11.0 | goal | reached | scratch at most | kept |'
has '| sort, 2^28 | 6.9000 (1.10) | 7.0 (2.00) | 30.0 (1.00) | <= 7 ms | yes | 1.2 | yes |'
has '| argsort, 2^28 | 10.6000 (2.30) | 10.0 (6.00) |  | <= 1.05 x CuPy | no | 2.2 | no |'
has '| x[x > 0.5], 2^28 | 1.2 (0.30) |  |  | <= 0.9 ms | no |  |  |'
has '| take, 2^26 | 1.5 (0.00) | OutOfMemoryError: no |  | <= 1 x CuPy | open |  |  |'
has '| rows | 20.0 (0.00) | 40.0 (2.00) |  | <= 0.5 x CuPy | yes |  |  |'
has '| unique | [unique] out of memory | 9.0 (2.00) |  | <= 1 x CuPy | no |  |  |'
has '| cumsum | 1.0 (0.00) |  |  |  |  |  |  |'
has 'sinter has no row renamed'
has '2 goals reached, 3 not, 1 open; 1 scratch limits kept, 1 not'
if awk -f "$here/../bench/beside.awk" "$box/peers" "$box/peers" >/dev/null; then
  failed=$((failed + 1))
  echo 'FAILED: a log without rows passes'
else
  passed=$((passed + 1))
fi

[ $failed = 0 ] || printf '%s\n' "$output"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
