#!/usr/bin/env bash
# Every integer parameter of a public header is named in a table of the extreme_*_test.cpp files, or in
# integer_parameters_not_listed.txt with a reason; and every reason belongs to a parameter that exists.
set -u
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
. "$here/../scripts/checks.sh"
nothing() { ! grep . "$1"; }

awk -f "$here/integer_parameters.awk" "$source_dir"/include/sinter/*.hpp | sort -u >"$box/declared"
grep -ohE '(\{|reduction\()"[A-Za-z_0-9.]+' "$here"/extreme_*_test.cpp | sed -E 's/.*"//' | sort -u >"$box/tested"
sed -E '/^#/d; s/ .*//' "$here/integer_parameters_not_listed.txt" | sort -u >"$box/excused"

sort -u "$box/tested" "$box/excused" | comm -23 "$box/declared" - >"$box/missing"
check "every integer parameter is in a table of extremes" nothing "$box/missing"
comm -23 "$box/excused" "$box/declared" >"$box/stale"
check "every excuse is of a parameter that exists" nothing "$box/stale"
comm -12 "$box/excused" "$box/tested" >"$box/both"
check "nothing that is tested is excused" nothing "$box/both"
check "more than a hundred are found" test "$(wc -l <"$box/declared")" -gt 100

# The finder itself, on a header made for it.
cat >"$box/page.hpp" <<'HEADER'
namespace sinter {
/// int in a comment does not count
ndarray plain(const ndarray& x, double y);
ndarray shifted(const ndarray& x, std::int64_t by,
                bool twice = false);
template <axis_like A>
ndarray along(const ndarray& x, const A& axis) { return x; }
struct some_kw {
  kwonly _kw{};
  std::optional<std::int64_t> rows{};
  bool flag = false;
  int depth = 3;
};
namespace detail {
ndarray hidden(int n);
}  // namespace detail
class thing {
 public:
  void set(std::size_t n) const;

 private:
  void inner(int n);
};
inline int last(int n) { return n; }
}
HEADER
found() { test "$(awk -f "$here/integer_parameters.awk" "$box/page.hpp" | sort | tr '\n' ' ')" = "$1"; }
check "the finder finds what is there, and no more" found "along last set shifted some_kw.depth some_kw.rows "
summary
