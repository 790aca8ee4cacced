#!/usr/bin/env bash
# checked_kernels.sh PROGRAM [ARGUMENT...]: runs a program, itself built without sanitizers, whose generated code for the CPU is
# compiled with AddressSanitizer and UBSanitizer. It finds accesses beyond the arrays that generated functions have on the
# stack; memory of the library's pools and arenas is not divided, so what goes beyond an array there is not found.
set -eu
if [ $# -eq 0 ]; then
  echo "usage: checked_kernels.sh PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/compiler" <<'END'
#!/usr/bin/env bash
exec g++ "$@" -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
END
chmod +x "$folder/compiler"
export SINTER_CXX="$folder/compiler" SINTER_CACHE_DIR="$folder/cache" SINTER_COMPILE_TIMEOUT=0 SINTER_DEVICE=cpu
export SINTER_TIER="${SINTER_TIER:-1}" UBSAN_OPTIONS=print_stacktrace=1
# A program may have an operator delete of its own.
export ASAN_OPTIONS="detect_leaks=0:use_sigaltstack=0:alloc_dealloc_mismatch=0:${ASAN_OPTIONS:-}"
env LD_PRELOAD="$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)" "$@"
