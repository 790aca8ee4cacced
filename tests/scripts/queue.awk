# Makes queues for side_by_side.sh: from a list of durations and the list that `-ltc -r=units` gives, in this order, lines
# "queue <tab> seconds <tab> i/n <tab> file <tab> name".
# Queues: "alone" (suite of that name: runs while nothing else does), "libraries" (what loads cuBLAS, cuSOLVER and cuFFT,
# which takes a process seconds: few processes do it), "any".

BEGIN {
  FS = OFS = "\t"
  seconds_a_part = 8
  usual = 0.2
}

FILENAME == ARGV[1] {
  if ($0 !~ /^#/ && NF == 3) known[$2 FS $3] = $1
  next
}

NF == 3 && !seen[$2 FS $3]++ {
  key = $2 FS $3
  seconds = key in known ? known[key] : usual
  parts = 1
  if ($1 == "sharded") {
    parts = int(seconds / seconds_a_part) + 1
    if (parts > 16) parts = 16
  }
  where = "any"
  if ($2 ~ /linalg|solver|fft|product|einsum|(^|\/)cg_/) where = "libraries"
  if ($1 == "alone") where = "alone"
  for (k = 0; k < parts; ++k) print where, seconds / parts, k "/" parts, $2, $3
}
