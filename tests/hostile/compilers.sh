#!/usr/bin/env bash
# Compilers that hang, lie and die, folders for temporary files that cannot be written, and what killed processes leave.
# Usage: compilers.sh FOLDER-OF-PROGRAMS
set -u
program=$1/kernels
. "$(dirname "$0")/../scripts/program.sh"
real=$(command -v g++) || { echo "0 passed, 0 failed, 1 skipped: no g++"; exit 77; }
export SINTER_CACHE_DIR=$work/cache SINTER_TIER=1 TMPDIR=$work/tmp SINTER_DEVICE=cpu
unset SINTER_COMPILE_TIMEOUT SINTER_CXX
mkdir -p "$work/tmp" "$work/bin"

# compiler NAME BODY : a compiler that passes the library's first test, and then does what BODY says with the options in
# "$@", the source in $source and the library to be made in $library.
compiler() {
  cat >"$work/bin/$1" <<X
#!/usr/bin/env bash
for word in "\$@"; do
  case \$word in *.cpp) source=\$word ;; *.so) library=\$word ;; esac
done
grep -q sinter_probe "\$source" && exec $real "\$@"
$2
X
  chmod +x "$work/bin/$1"
  export SINTER_CXX=$work/bin/$1
}
lines() { wc -l <"$1"; }
entries() { ls "$SINTER_CACHE_DIR" 2>/dev/null | grep -c '\.sinter$'; }

# falls_back NAME PATTERN : the recorded expression is right, the text refused by name, each says the same reason, which
# matches; there is one line of warning, nothing is left under TMPDIR, and the cache has no more than the compiler's test.
falls_back() {
  local before=$(entries)
  run recorded text
  local status=$?
  [ $status = 0 ] && grep -q "^recorded right$" "$work/out" && grep -Eq "^text refused: \[cube\] .*$2" "$work/out"
  verdict "$1: results" $?
  [ "$(lines "$work/err")" = 1 ] && grep -Eq "^\[sinter\] .*$2.*interpreted" "$work/err"
  verdict "$1: one line of warning" $?
  [ $(($(entries) - before)) -le 1 ] && [ -z "$(ls -A "$work/tmp")" ]
  verdict "$1: nothing is left" $?
}

compiler good "exec $real \"\$@\""
run recorded text && grep -q "^text right$" "$work/out" && [ ! -s "$work/err" ]
if ! verdict "the real compiler" $? || [ $failed != 0 ]; then
  echo "the library cannot use $real here"
  summary
  exit
fi

# Hanging.
export SINTER_COMPILE_TIMEOUT=1
compiler hangs "sleep 1000 & echo \$! >>$work/sleepers; wait"
started=$SECONDS
falls_back "a compiler that hangs" "did not end within 1 s"
[ $((SECONDS - started)) -lt 8 ]
verdict "a compiler that hangs is waited for once for each that needs it" $?
# gone FILE : the processes that it lists end within seconds. Some wait for the system to take their status.
gone() {
  local process
  while read -r process; do
    for _ in $(seq 50); do
      [ ! -e "/proc/$process" ] || grep -q ') Z ' "/proc/$process/stat" 2>/dev/null && break
      sleep 0.1
    done
    [ ! -e "/proc/$process" ] || grep -q ') Z ' "/proc/$process/stat" 2>/dev/null || return 1
  done <"$1"
}
[ -s "$work/sleepers" ] && gone "$work/sleepers"
verdict "what it has started ends with it" $?
printf '#!/bin/sh\nsleep 1000\n' >"$work/bin/mute" && chmod +x "$work/bin/mute"
SINTER_CXX=$work/bin/mute falls_back "a compiler that hangs from the beginning" "mute.* did not end within 1 s"
compiler stubborn "trap '' TERM INT HUP; while :; do :; done"
falls_back "a compiler that ignores signals" "did not end within 1 s"
export SINTER_COMPILE_TIMEOUT=20

# Lying.
compiler nothing "exit 0"
falls_back "no library" "made no library"
compiler empty ": >\"\$library\""
falls_back "an empty library" "made no library"
compiler folder "mkdir \"\$library\""
falls_back "a folder for a library" "made no library"
compiler pipe "mkfifo \"\$library\""
falls_back "a pipe for a library" "made no library"
compiler garbage "head -c 20000 /dev/urandom >\"\$library\""
falls_back "garbage for a library" "cannot be loaded"
for part in 300 "\$((size / 2))" "\$((size - 1))"; do
  compiler "cut" "$real \"\$@\" && size=\$(stat -c %s \"\$library\") && truncate -s $part \"\$library\""
  falls_back "a library cut to $part bytes" "cannot be loaded"
done
compiler holes "$real \"\$@\" && size=\$(stat -c %s \"\$library\") && truncate -s \$((size / 2)) \"\$library\" && truncate -s \$size \"\$library\""
falls_back "a library with zeros in its second half" "cannot be loaded"
compiler other "echo 'int x;' | $real -x c++ -shared -fPIC -o \"\$library\" -"
falls_back "a library of something else" "made no function"
compiler dies "kill -SEGV \$\$"
falls_back "a compiler that crashes" "signal 11"
compiler talks "head -c 300000000 /dev/zero | tr '\\\\0' e >&2; exit 0"
falls_back "a compiler that prints 300 MB" "made no library"
compiler gone "exit 0"
run recorded >/dev/null
rm "$work/bin/gone"
SINTER_CXX=$work/bin/gone falls_back "no compiler at all" "(no such file|path of a program)"

# Folders for temporary files.
compiler good2 "exec $real \"\$@\""
run another  # the compiler's test passes while there is room
for bad in /proc /dev/null "$work/missing"; do
  TMPDIR=$bad falls_back "TMPDIR=$bad" "$bad"
done
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/closed" && chmod 555 "$work/closed"
  TMPDIR=$work/closed falls_back "TMPDIR without permission" "$work/closed.*Permission denied"
fi
export SINTER_CACHE_DIR=$work/cache2
(trap '' XFSZ; ulimit -f 1; "$program" recorded text) >"$work/out" 2>"$work/err"
grep -q "^recorded right$" "$work/out" && grep -Eq "^text refused: \[cube\] .*$work/tmp/.*File too large" "$work/out" &&
  grep -Eq "$work/tmp/.*TMPDIR.*File too large.*interpreted" "$work/err"
verdict "files that may not grow are named" $?
[ -z "$(ls -A "$TMPDIR")" ]
verdict "files that may not grow are not left" $?
mkdir "$work/full"
cat >"$work/on_full_disk" <<X
mount -t tmpfs -o size=16k,mode=700 none $work/full || exit 99
head -c 1000000 /dev/zero >$work/full/ballast 2>/dev/null
TMPDIR=$work/full $program recorded text
X
unshare -m bash "$work/on_full_disk" >"$work/out" 2>"$work/err"
if grep -q "^recorded" "$work/out"; then
  grep -q "^recorded right$" "$work/out" && grep -Eq "^text refused: .*$work/full.*No space left" "$work/out" &&
    grep -Eq "$work/full.*TMPDIR.*No space left.*interpreted" "$work/err"
  verdict "a full disk is named" $?
else
  echo "left out: no file system may be mounted here to be filled"
fi

# What killed processes leave.
export SINTER_CACHE_DIR=$work/cache3 SINTER_COMPILE_TIMEOUT=30
compiler waits "echo \$\$ >>$work/waiting; exec sleep 1000"
folders() { find "$TMPDIR" -maxdepth 1 -name 'sinter-jit-*' | wc -l; }
until_folders() { for _ in $(seq 100); do [ "$(folders)" = "$1" ] && return; sleep 0.1; done; return 1; }
until_waiting() { for _ in $(seq 100); do [ "$(cat "$work/waiting" 2>/dev/null | wc -l)" = "$1" ] && return; sleep 0.1; done; return 1; }
"$program" recorded >/dev/null 2>&1 &
first=$!
until_waiting 1
"$program" text >/dev/null 2>&1 &
second=$!
until_waiting 2
verdict "two processes compile" $?
kill -9 $first && wait $first 2>/dev/null
[ "$(folders)" = 2 ]
verdict "a killed process leaves its folder" $?
mkdir "$TMPDIR/sinter-jit-abcdef" "$TMPDIR/sinter-jit-mine"  # nobody's: young, and of another name
compiler good3 "exec $real \"\$@\""
: >"$SINTER_CACHE_DIR/sinter-tmp-1-2-3"
works "the next process" "^recorded right$" recorded
[ "$(folders)" = 3 ]
verdict "it clears that folder, and neither the living one's nor those of others" $?
[ ! -e "$SINTER_CACHE_DIR/sinter-tmp-1-2-3" ]
verdict "it clears the cache of files half written" $?
kill -9 $second && wait $second 2>/dev/null
works "the one after" "^text right$" text
[ "$(folders)" = 2 ]
verdict "it clears the other folder" $?
xargs -r -n 1 kill -9 <"$work/waiting" 2>/dev/null

summary
