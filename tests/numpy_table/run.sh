#!/usr/bin/env bash
# Every public function and every member of ndarray has its line in the NumPy table (docs/numpy.md, docs/numpy/*.md),
# every name that the table uses exists, and its spellings compile. The checks themselves are tested with headers and
# pages made for that.
set -u
export LC_ALL=C  # the order of names
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_dir="${SINTER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}"
cxx="${CXX:-g++}"
include=$source_dir/include
. "$here/../scripts/checks.sh"

names_of() { awk -f "$here/public_names.awk" "$@"; }
# compare FOLDER PAGE...: differences between the headers of a folder and pages.
compare() {
  names_of "$1"/*.hpp >"$box/names" && awk -f "$here/table_names.awk" "${@:2}" >"$box/pages" &&
    awk -f "$here/compare.awk" part=1 "${not_listed:-$here/not_listed.txt}" part=2 "$box/names" part=3 "$box/pages"
}
# compiles PAGE...: every spelling in a function of its own, with errors at the page's lines.
compiles() {
  {
    echo '#include "spellings.hpp"'
    awk -f "$here/table_names.awk" "$@" |
      awk -F '\t' '$1 == "code" { printf "#line %s \"%s\"\nvoid spelling_%d() { %s; }\n", $4, $3, NR, $2 }'
  } >"$box/spellings.cpp"
  grep -q '^void' "$box/spellings.cpp" &&
    "$cxx" -std=c++20 -fsyntax-only "-I$include" "-I$here" "$box/spellings.cpp"
}
fails_with() {  # text, command...: the command fails and says nothing but one line, with that text
  ! "${@:2}" >"$box/output" 2>&1 && cat "$box/output" && [ "$(wc -l <"$box/output")" = 1 ] &&
    grep -qF -- "$1" "$box/output"
}

# ---- the table

pages=("$source_dir/docs/numpy.md")
for page in "$source_dir"/docs/numpy/*.md; do [ -f "$page" ] && pages+=("$page"); done
check "the table has every public name, and no other" compare "$include/sinter" "${pages[@]}"
check "the table's spellings compile" compiles "${pages[@]}"

unexplained() { awk -f "$here/unexplained.awk" part=1 "$1" part=2 "${@:2}"; }
check "every name of NumPy's is there or explained" unexplained "$here/numpy_names.txt" "${pages[@]}"
{ cat "$here/numpy_names.txt" && echo frobnicate; } >"$box/names.txt"
check "a name of NumPy's that no page has fails" fails_with "NumPy's frobnicate" unexplained "$box/names.txt" "${pages[@]}"
sed 's/`np\.trapezoid(/`np.integral(/g; s/`sn::trapezoid/`sn::integral/g' "${pages[0]}" >"$box/page.md"
check "a row taken from the page fails" fails_with "NumPy's trapezoid" unexplained "$here/numpy_names.txt" "$box/page.md"

unspelled() { awk -f "$here/unspelled.awk" part=1 "$1" part=2 "${@:2}"; }
check "what programs for CuPy use is there or explained" unspelled "$here/cupy_names.txt" "${pages[@]}"
check "names of NumPy's other namespaces and of SciPy's are there or explained" unspelled "$here/other_names.txt" "${pages[@]}"
sed 's/`sp\.ellipk(/`sp.elliptic(/g' "${pages[0]}" >"$box/page.md"
check "a row of another namespace taken from the page fails" fails_with "sp.ellipk" unspelled "$here/other_names.txt" "$box/page.md"
echo 'x.frobnicate|sn::frobnicate' >"$box/names.txt"
check "a spelling that no page has fails" fails_with "becomes of x.frobnicate" unspelled "$box/names.txt" "${pages[@]}"
printf '%s\n' 'x.sor' 'latten' 'qrt' >"$box/names.txt"
check "a part of a spelling is none" fails unspelled "$box/names.txt" "${pages[@]}"

names_of "$include"/sinter/*.hpp | cut -f1,2 | sort -u >"$box/all"
has() { grep -qxF "$1	$2" "$box/all"; }
check "hundreds of functions are found" test "$(grep -c '^function' "$box/all")" -gt 250
for pair in "function sort" "function std" "function cuda" "function benchmark" "function ix_" "member ndarray.T" \
  "member ndarray.to_vector" "type raw_kernel" "type host_view" "constant float32" "constant _" "field sort_kw.axis"; do
  check "the headers declare the $pair" has ${pair% *} "${pair#* }"
done
for pair in "function with_axis" "function eval_all" "function operator" "member ndarray.at" \
  "member ndarray.ndarray"; do
  check "users do not see the $pair" fails has ${pair% *} "${pair#* }"
done

# Against the real headers and page, so that neither check can be blind.
cp -r "$include/sinter" "$box/sinter"
cat >"$box/sinter/new.hpp" <<'CPP'
namespace sinter {
inline namespace v0 {
ndarray frobnicate(const ndarray& x);
}
}
CPP
check "a new function without a line fails" fails_with "no line for the function frobnicate" compare "$box/sinter" \
  "${pages[@]}"
rm "$box/sinter/new.hpp"
sed -i 's/  ndarray mT() const;/&\n  ndarray hT() const;/' "$box/sinter/ndarray.hpp"
check "a new member without a line fails" fails_with "no line for the member ndarray.hT" compare "$box/sinter" \
  "${pages[@]}"
grep -v '^| `np.take_along_axis' "${pages[0]}" >"$box/page.md"
check "a line taken away fails" fails_with "function take_along_axis" compare "$include/sinter" "$box/page.md" \
  "${pages[@]:1}"
{ cat "${pages[0]}" && printf '| `np.foo(x)` | `sn::foo(x)` | |\n'; } >"$box/page.md"
check "a line of something that does not exist fails" fails_with "sn::foo does not exist" compare "$include/sinter" \
  "$box/page.md" "${pages[@]:1}"

# ---- what counts as a public name

mkdir "$box/fake"
cat >"$box/fake/a.hpp" <<'CPP'
// ndarray commented(int);  { " '
/* namespace sinter { ndarray blocked(int); */
#pragma once
#define BRACE {
#define LONG \
  void macro_line();
namespace sinter::graph { struct view; }
namespace other { void elsewhere(); }
void outside();
namespace sinter {
inline namespace v0 {
class forward;
struct options_kw {
  kwonly _kw{};
  std::optional<std::pair<double, double>> range{};
  bool first = false, second{true};
  std::function<void(int)> setup{};
};
[[nodiscard]] ndarray plain(const ndarray& x, const options_kw& kw = {});
inline ndarray short_one(const ndarray& x) { if (x) { return plain(x, {.first = '}'}); } return "{"; }
template <class T, std::size_t N = (1 > 2)>
  requires(N > 0) && (N < 9)
constexpr std::array<T, N> constrained(const T (&a)[N]) noexcept(N > 1) { return {}; }
template <class F>
  requires std::invocable<std::remove_reference_t<F>&>
result<F, 2> run(F&& f);
template <class T, int N>
  requires numeric<T> && (N >= 0) && other::small<T, (N > 1)>
class gated {
 public:
  int extent() const;
};
template <class T> concept numeric = requires(T t) { t + 1; };
ndarray operator+(const ndarray&, const ndarray&);
ndarray
over_lines(
    int a,
    int b = 3);
auto trailing(int a) -> std::vector<int>;
inline constexpr int one = 1, two = 2;
inline constexpr token star{0};
template <class T> inline constexpr int size_of = sizeof(T);
enum class color : int { red, green };
using alias = std::vector<int>;
namespace detail {
void hidden();
struct secret {};
}  // namespace detail
namespace linalg {
ndarray solve(const ndarray& a);
}
namespace idx { using sinter::slice; }
class ndarray : public base {
 public:
  ndarray() = default;
  explicit ndarray(int n) : size_{n}, other_(n) {}
  ~ndarray();
  ndarray& operator=(const ndarray&) & = default;
  template <class T> T item() const { return T{}; }
  std::vector<int> shape() const;
  friend std::ostream& print(std::ostream&, const ndarray&);
  explicit operator bool() const;
  static ndarray made();
 protected:
  void guarded();
 private:
  void inner();
  int size_, other_;
};
struct after { int field; void method(); };
template <> struct after<int> { int special; };
void ndarray::inner() {}
}  // namespace v0
}  // namespace sinter
CPP
cat >"$box/wanted" <<'TXT'
constant	one
constant	size_of
constant	star
constant	two
field	after.field
field	after.special
field	options_kw._kw
field	options_kw.first
field	options_kw.range
field	options_kw.second
field	options_kw.setup
function	constrained
function	linalg::solve
function	over_lines
function	plain
function	run
function	short_one
function	trailing
member	after.method
member	gated.extent
member	ndarray.item
member	ndarray.made
member	ndarray.shape
namespace	idx
namespace	linalg
type	after
type	alias
type	color
type	gated
type	ndarray
type	options_kw
TXT
names_of "$box/fake/a.hpp" | cut -f1,2 | sort -u >"$box/found"
check "exactly the public names are found" diff "$box/wanted" "$box/found"

# ---- what a page says

mkdir "$box/small"
cat >"$box/small/a.hpp" <<'CPP'
namespace sinter {
inline namespace v0 {
struct wave_kw { kwonly _kw{}; int phase = 0; };
ndarray wave(const ndarray& x, const wave_kw& kw = {});
ndarray ebb(const ndarray& x);
namespace linalg { ndarray solve(const ndarray& a); }
class ndarray { public: ndarray T() const; };
inline constexpr int tide = 1;
}
}
CPP
: >"$box/none"
not_listed=$box/none
page() { printf '%s\n' "$@" >"$box/page.md"; }
head='| NumPy | sinter | differences |'
line='| --- | --- | --- |'
good=('| `np.wave(x)` | `sn::wave(x, {.phase = 1})` | |' '| `np.linalg.solve(x)`, `np.ebb(x)` | the same | |'
  '| `x.T` | `x.T()` | an `ndarray`; `tide` |')
small() { compare "$box/small" "$box/page.md"; }

page "$head" "$line" "${good[@]}"
check "a complete page" small
page "$head" "$line" "${good[@]:1}"
check "a missing line" fails_with "function wave" small
page "$head" "$line" "${good[@]:1}" '| `np.wave(x)` | - | `wave` |'
check "NumPy's column and remarks do not count as a spelling" fails_with "function wave" small
page "$head" "$line" "${good[@]:0:1}" "${good[2]}" '| `np.ebb(x)`, `np.solve(x)` | the same | |'
check "\"the same\" stands for the whole name" fails small
check "\"the same\" of something that does not exist" grep -q 'sn::solve does not exist' "$box/said"
page "$head" "$line" "${good[@]/x.T()/sn::ebb(x)}"
check "a missing member" fails_with "member ndarray.T" small
page "$head" "$line" "${good[@]/.phase/.angle}"
check "a keyword that does not exist" fails_with "no keyword angle" small
page "$head" "$line" "${good[@]/x.T()/x.T().get()}"
check "a member that does not exist" fails_with "no member get" small
page "$head" "$line" "${good[@]}" '' 'See `sn::flow(x)`.'
check "a dead name in a sentence" fails_with "sn::flow does not exist" small
page "$head" "$line" "${good[@]}" '' '```cpp' 'sn::flow(x);' '```'
check "a dead name in a block of code" fails_with "sn::flow does not exist" small
page "$head" "$line" "${good[@]:0:2}" '' "${good[2]}"
check "a row that an empty line cuts off" fails small
check "a row that an empty line cuts off is named" grep -q 'a table of one row' "$box/said"
page "$head" "$line" "${good[@]/tide/time}"
check "a constant that is nowhere" fails_with "constant tide" small
page "$head" "$line" "${good[@]}"
echo 'ebb' >"$box/none"
check "an exception without a reason" fails_with "without a reason" small
echo 'flow    is not there' >"$box/none"
check "an exception that does not exist" fails_with "flow does not exist" small

page "$head" "$line" '| `np.sort(x)` | `sn::sort(x, {.descending = true})` | |'
check "a spelling that compiles" compiles "$box/page.md"
page "$head" "$line" '| `np.sort(x)` | `sn::sort(x, {.ascending = true})` | |'
check "a spelling that does not compile" fails compiles "$box/page.md"
check "the error stands at the page's line" grep -q 'page.md:3:' "$box/said"

summary
