// Text of sparse arrays, as SciPy's.
#include "sinter/print.hpp"

#include <ostream>

#include "ops/sparse/parts.hpp"
#include "sinter/sparse.hpp"

namespace sinter::ops {
namespace {

/// Entries that are shown at most; of more the first and last ones.
constexpr std::int64_t most_shown = 50;

void append_entries(std::string& text, const sparse_state& s, std::int64_t first, std::int64_t last) {
  const slice shown(first, last);
  const auto row = rows_of_entries(s)(shown).to_vector<std::int64_t>();
  const auto column = columns_of_entries(s)(shown).to_vector<std::int64_t>();
  const ndarray data = s.data(shown).to_host();
  for (std::size_t k = 0; k < row.size(); ++k)
    text += "\n  (" + std::to_string(row[k]) + ", " + std::to_string(column[k]) + ")\t" +
            to_string(data(static_cast<std::int64_t>(k)));
}

std::string head_of(const sparse_state& s) {
  constexpr const char* names[] = {"Compressed Sparse Row", "Compressed Sparse Column", "COOrdinate"};
  return std::string("<") + names[static_cast<int>(s.format)] + " sparse array of dtype '" +
         std::string(sinter::name(s.data.dtype())) + "'\n\twith " + std::to_string(entries_of(s)) +
         " stored elements and shape " + to_string(shape_t{s.rows, s.columns}) + ">";
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

std::string to_string(const sparse_array& a) {
  const auto& s = *ops::state_of(a, "to_string");
  const std::int64_t entries = ops::entries_of(s);
  std::string text = ops::head_of(s);
  if (entries == 0) return text;
  text += "\n  Coords\tValues";
  if (entries <= ops::most_shown) {
    ops::append_entries(text, s, 0, entries);
  } else {
    ops::append_entries(text, s, 0, ops::most_shown / 2);
    text += "\n  :\t:";
    ops::append_entries(text, s, entries - ops::most_shown / 2, entries);
  }
  return text;
}
std::ostream& operator<<(std::ostream& out, const sparse_array& a) { return out << to_string(a); }

void eval(const sparse_array& a) {
  const auto& s = *ops::state_of(a, "eval");
  sinter::eval(s.data, s.first, s.second);
}
std::string explain(const sparse_array& a, const explain_kw& kw) {
  const auto& s = *ops::state_of(a, "explain");
  return ops::head_of(s) + "\nits elements:\n" + sinter::explain(s.data, kw);
}

}  // namespace sparse
}  // namespace sinter::inline v0
