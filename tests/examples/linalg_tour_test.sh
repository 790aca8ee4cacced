#!/usr/bin/env bash
# The linear algebra tour from outside: its table, its options, and one clear line for every mistake.
# Usage: linalg_tour_test.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../scripts/program.sh"
small=(--device cpu --sizes 60,50,40 --side 70 --order 40 --spectral 30 --plane 20 --line 64 --normals 1000
  --repeat 2)

if ! run "${small[@]}" && grep -qE "OpenBLAS|FFTW" "$work/err"; then
  printf 'left out: %s\n' "$(cat "$work/err")"
  exit 77
fi
works "the table's head" "^\| line \| ms \| the bare call's ms \| ratio \|$" "${small[@]}"
said "the device" "^cpu, "
for type in float32 float64; do
  said "a product and its sum, $type" "^\| sum\(matmul\(a, b\), 0\), 60 x 50 x 40, $type \| [0-9.e-]+ \|"
  said "a square product, $type" "^\| dot\(a, b\), 70 x 70, $type \| [0-9.e-]+ \|"
done
said "an einsum" "^\| einsum\(\"ij,jk->k\", a, b\), 60 x 50 x 40, float32 \| [0-9.e-]+ \| \| \|$"
for line in "linalg::qr\(a\), 40 x 40" "linalg::solve\(a, b\), 40 x 40" "linalg::svd\(a\), 30 x 30" \
  "linalg::eigh\(a\), 30 x 30"; do
  said "a factorisation" "^\| $line, float64 \| [0-9.e-]+ \| \| \|$"
done
said "a plane's transform" "^\| fft::fft2\(x\), 20 x 20, complex64 \| [0-9.e-]+ \| \| \|$"
said "a line's transform" "^\| fft::fft\(x\), 64, complex64 \| [0-9.e-]+ \| \| \|$"
said "random numbers" "^\| generator.standard_normal, 1000, float32 \| [0-9.e-]+ \| \| \|$"
works "help" "--sizes M,K,N" --help

refuses "an unknown option" "linalg_tour: unknown option '--colour'" --colour
refuses "two sizes" "--sizes takes three numbers: rows, inner, columns" --sizes 10,20
refuses "a size of zero" "--sizes takes .*, not '0'" --sizes 10,0,10
refuses "an order of zero" "--order takes .*, not '0'" --order 0
refuses "no repetition" "--repeat takes .*, not '0'" --repeat 0
refuses "a device that is not there" "cuda:99" --device cuda:99

summary
