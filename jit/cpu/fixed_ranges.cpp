#include "jit/cpu/fixed_ranges.hpp"

#include <algorithm>
#include <limits>

namespace sinter::jit {
namespace {

/// Parts of an axis, and of a space, at most; instructions in all of them.
constexpr std::size_t most_of_axis = 6, most_parts = 25, most_instructions = 3000;
constexpr std::int64_t large = std::int64_t{1} << 40;

bool fits(const value_range& r, dtype t) {
  if (!is_integer(t)) return false;
  const int bits = 8 * static_cast<int>(itemsize(t));
  const bool is_signed = t == dtype::i8 || t == dtype::i16 || t == dtype::i32 || t == dtype::i64;
  const std::int64_t low = !is_signed ? 0 : bits == 64 ? -large : -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = bits == 64 ? large : (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return r.low >= low && r.high <= high;
}

/// One walk over the code. With `cuts` it also collects, by axis, places before which a comparison has another result.
class walk {
 public:
  walk(const fixed_launch& l, const std::vector<axis_part>& within, std::vector<std::vector<std::int64_t>>* cuts)
      : l_(l), within_(within), cuts_(cuts), ranges_(l.code.code.size()) {
    for (std::size_t k = 0; k < ranges_.size(); ++k) ranges_[k] = range(k);
  }
  std::vector<value_range> take() { return std::move(ranges_); }

 private:
  static value_range between(std::int64_t low, std::int64_t high) { return {true, low, high, -1, 1, 0, -1}; }
  static value_range truth(bool x) { return between(x, x); }

  value_range range(std::size_t k) {
    const instr& i = l_.code.code[k];
    switch (i.op) {
      case opcode::param:
        return l_.numbers[i.a] && *l_.numbers[i.a]<large&& * l_.numbers[i.a]> - large
                   ? between(*l_.numbers[i.a], *l_.numbers[i.a])
                   : value_range{};
      case opcode::coord: {
        if (i.a >= l_.extents.size()) return {};
        value_range r = between(within_[i.a].begin, within_[i.a].end - 1);
        r.axis = i.a;
        return r;
      }
      case opcode::cast: {
        const value_range& a = ranges_[i.a];
        return a.is_known && is_integer(i.arg) && fits(a, i.type) ? a : value_range{};
      }
      case opcode::add:
      case opcode::subtract: return sum(i);
      case opcode::maximum:
      case opcode::minimum: return extreme(i);
      case opcode::less: return compared(i.a, i.b, false, true, i);
      case opcode::less_equal: return compared(i.a, i.b, true, true, i);
      case opcode::greater: return compared(i.a, i.b, true, false, i);
      case opcode::greater_equal: return compared(i.a, i.b, false, false, i);
      case opcode::logical_and:
      case opcode::logical_or: return joined(i);
      case opcode::logical_not: {
        const value_range& a = ranges_[i.a];
        return a.is_number() ? truth(a.low == 0) : value_range{};
      }
      case opcode::select: {
        const value_range& c = ranges_[i.a];
        return c.is_number() ? same(c.low != 0 ? i.b : i.c) : value_range{};
      }
      case opcode::checked_index: return index(i);
      default: return {};
    }
  }

  value_range same(std::uint16_t reg) const {
    value_range r = ranges_[reg];
    r.same_as = reg;
    return r;
  }

  value_range sum(const instr& i) const {
    const value_range &a = ranges_[i.a], &b = ranges_[i.b];
    if (!a.is_known || !b.is_known || !is_integer(i.type)) return {};
    const bool minus = i.op == opcode::subtract;
    value_range r = minus ? between(a.low - b.high, a.high - b.low) : between(a.low + b.low, a.high + b.high);
    if (!fits(r, i.type)) return {};
    if (b.is_number() && a.axis >= 0) r.axis = a.axis, r.sign = a.sign, r.offset = a.offset + (minus ? -b.low : b.low);
    else if (a.is_number() && b.axis >= 0)
      r.axis = b.axis, r.sign = minus ? -b.sign : b.sign, r.offset = minus ? a.low - b.offset : a.low + b.offset;
    return r;
  }

  /// The values below `first` and those from it on are different parts.
  void cut(const value_range& v, std::int64_t first) {
    if (!cuts_ || v.axis < 0) return;
    const std::int64_t at = v.sign > 0 ? first - v.offset : v.offset - first + 1;
    const axis_part& part = within_[static_cast<std::size_t>(v.axis)];
    if (at > part.begin && at < part.end) (*cuts_)[static_cast<std::size_t>(v.axis)].push_back(at);
  }
  void cut(const value_range& a, const value_range& b, std::int64_t more) {
    if (b.is_number()) cut(a, b.low + more);
    else if (a.is_number()) cut(b, a.low + 1 - more);
  }

  value_range extreme(const instr& i) {
    const value_range &a = ranges_[i.a], &b = ranges_[i.b];
    if (!a.is_known || !b.is_known) return {};
    const bool greater = i.op == opcode::maximum;
    if (a.low >= b.high) return same(greater ? i.a : i.b);
    if (b.low >= a.high) return same(greater ? i.b : i.a);
    cut(a, b, 0);
    return greater ? between(std::max(a.low, b.low), std::max(a.high, b.high))
                   : between(std::min(a.low, b.low), std::min(a.high, b.high));
  }

  /// Whether a < b, or a < b + 1 with `more`; the contrary where not `less`.
  value_range compared(std::uint16_t first, std::uint16_t second, bool more, bool less, const instr& i) {
    const value_range &a = ranges_[first], &b = ranges_[second];
    if (!a.is_known || !b.is_known || !is_integer(i.arg)) return {};
    const std::int64_t one = more ? 1 : 0;
    if (a.high < b.low + one) return truth(less);
    if (a.low >= b.high + one) return truth(!less);
    cut(a, b, one);
    return {};
  }

  value_range joined(const instr& i) const {
    const bool all = i.op == opcode::logical_and;
    for (const std::uint16_t k : {i.a, i.b})
      if (const value_range& r = ranges_[k]; r.is_number() && (r.low != 0) != all) return truth(!all);
    for (const auto& [one, other] : {std::pair(i.a, i.b), std::pair(i.b, i.a)})
      if (ranges_[one].is_number()) return same(other);
    return {};
  }

  value_range index(const instr& i) {
    const value_range& v = ranges_[i.a];
    if (!v.is_known || !l_.numbers[i.b]) return {};
    if (v.low >= 0 && v.high < *l_.numbers[i.b]) return same(i.a);
    cut(v, 0);
    return between(0, *l_.numbers[i.b] - 1);
  }

  const fixed_launch& l_;
  const std::vector<axis_part>& within_;
  std::vector<std::vector<std::int64_t>>* cuts_;
  std::vector<value_range> ranges_;
};

}  // namespace

std::vector<value_range> ranges_of(const fixed_launch& l, const std::vector<axis_part>& within) {
  return walk(l, within, nullptr).take();
}

std::vector<std::vector<axis_part>> parts_of(const fixed_launch& l) {
  std::vector<axis_part> all;
  for (int a = 0; a < l.extents.size(); ++a) all.push_back({0, l.extents[a]});
  std::vector<std::vector<axis_part>> parts, whole;
  for (const axis_part& p : all) whole.push_back({p});
  parts = whole;
  for (std::size_t a = 0; a < parts.size(); ++a)
    for (std::size_t k = 0; k < parts[a].size();) {
      std::vector<axis_part> within = all;
      within[a] = parts[a][k];
      std::vector<std::vector<std::int64_t>> cuts(all.size());
      walk(l, within, &cuts);
      if (cuts[a].empty()) {
        ++k;
        continue;
      }
      if (parts[a].size() == most_of_axis) return whole;
      const std::int64_t at = *std::min_element(cuts[a].begin(), cuts[a].end());
      parts[a].insert(parts[a].begin() + static_cast<std::ptrdiff_t>(k) + 1, {at, parts[a][k].end});
      parts[a][k].end = at;
    }
  const auto are_few = [&] {
    std::size_t count = 1;
    for (const auto& p : parts) count *= p.size();
    return count <= most_parts && count * l.code.code.size() <= most_instructions;
  };
  if (are_few()) return parts;
  // The longest part of each axis, and what is before and after it.
  for (auto& p : parts) {
    const auto longest = *std::max_element(
        p.begin(), p.end(), [](const axis_part& a, const axis_part& b) { return a.end - a.begin < b.end - b.begin; });
    const std::int64_t end = p.back().end;
    p = {longest};
    if (longest.begin > 0) p.insert(p.begin(), {0, longest.begin});
    if (longest.end < end) p.push_back({longest.end, end});
  }
  return are_few() ? parts : whole;
}

}  // namespace sinter::jit
