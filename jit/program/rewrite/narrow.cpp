// Ranges forwards, then which registers are needed in 64 bits backwards, then the program anew. What is narrower has 32 bits, or 16 where
// all of it may have those and results are no wider.
#include "jit/program/rewrite/narrow.hpp"

#include <algorithm>
#include <limits>

namespace sinter::jit {
namespace {

__extension__ typedef __int128 wide;

template <class T>
constexpr number_range all_of() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

number_range range_of_type(dtype t) {
  switch (t) {
    case dtype::b1: return {0, 1};
    case dtype::i8: return all_of<std::int8_t>();
    case dtype::u8: return all_of<std::uint8_t>();
    case dtype::i16: return all_of<std::int16_t>();
    case dtype::u16: return all_of<std::uint16_t>();
    case dtype::i32: return all_of<std::int32_t>();
    case dtype::u32: return all_of<std::uint32_t>();
    default: return {};
  }
}

bool is_whole(dtype t) { return is_bool(t) || is_integer(t); }

/// The lowest number of 32 bits has no negative.
bool fits(const number_range& r) { return r.low >= -std::int64_t{INT32_MAX} && r.high <= INT32_MAX; }
bool fits_short(const number_range& r) { return r.low >= -INT16_MAX && r.high <= INT16_MAX; }

/// What lies between these numbers, in the type's range; all of that where some does not.
number_range between(wide low, wide high, dtype type) {
  const number_range all = range_of_type(type);
  if (type == dtype::u64 || low < all.low || high > all.high) return all;
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

number_range product_of(const number_range& a, const number_range& b, dtype type) {
  const wide all[] = {wide{a.low} * b.low, wide{a.low} * b.high, wide{a.high} * b.low, wide{a.high} * b.high};
  return between(*std::min_element(all, all + 4), *std::max_element(all, all + 4), type);
}

/// Operations on each result that are computed in fewer bits, fewer of which take no longer in 64.
constexpr std::size_t least_operations = 3;

wide size_of(const number_range& r) { return std::max<wide>(-wide{r.low}, r.high); }

/// The least 2^n - 1 that is no less than a number of the range.
wide mask_of(const number_range& a, const number_range& b) {
  const wide most = std::max(std::max<wide>(-wide{a.low}, a.high), std::max<wide>(-wide{b.low}, b.high));
  wide mask = 1;
  while (mask < most) mask = 2 * mask + 1;
  return mask;
}

class narrowing {
 public:
  narrowing(const program& p, const core::dims& extents, const std::vector<number_range>& params, bool widen)
      : p_(p), extents_(extents), params_(params), widen_(widen), uses_(p.code.size()) {
    ranges_.reserve(p.code.size());
    for (const instr& i : p.code) {
      ranges_.push_back(range_of(i));
      narrowable_.push_back(i.type == dtype::i64 && fits(ranges_.back()) && (is_narrow_source(i) || takes_narrow(i)));
    }
    find_uses();
    if (may_be_short()) short_ = dtype::i16;
  }
  bool is_of_use() const { return of_use_; }
  program rewritten();

 private:
  struct use {
    bool in_32 = false;     // the instruction takes its operands in 32 bits, and has its result so
    bool narrow = false;    // some instruction reads it in 32 bits
    bool as_it_is = false;  // some reads it, or something else does, in 64
  };

  number_range range_of(const instr& i) const;
  number_range of_binary(const instr& i) const;
  number_range of_coordinate(std::uint16_t axis) const;
  bool is_long(std::uint16_t reg) const { return p_.code[reg].type == dtype::i64; }
  static bool is_narrow_source(const instr& i);
  bool takes_narrow(const instr& i) const;
  void find_uses();
  bool is_widened(std::uint16_t reg) const;
  std::uint16_t widened(std::uint16_t reg);
  bool is_worth_widening() const;
  bool may_be_short() const;
  void widen_reduced();
  void copy(std::size_t k);
  void compute_narrow(std::size_t k);

  const program& p_;
  const core::dims& extents_;
  const std::vector<number_range>& params_;
  bool widen_;  // whether what reductions read, and results, may be narrow
  std::vector<number_range> ranges_;
  std::vector<bool> narrowable_;  // int64 that can be had in 32 bits without being computed in 64
  std::vector<use> uses_;
  bool of_use_ = false;
  dtype short_ = dtype::i32;  // what takes the place of int64
  program out_;
  std::vector<std::uint16_t> place_, narrow_;  // registers of the new program
};

number_range narrowing::of_coordinate(std::uint16_t axis) const {
  if (axis < extents_.size()) return {0, std::max<std::int64_t>(extents_[axis] - 1, 0)};
  return {0, std::max<std::int64_t>(core::element_count(extents_) - 1, 0)};
}

number_range narrowing::of_binary(const instr& i) const {
  const number_range &a = ranges_[i.a], &b = ranges_[i.b];
  switch (i.op) {
    case opcode::add: return between(wide{a.low} + b.low, wide{a.high} + b.high, i.type);
    case opcode::subtract: return between(wide{a.low} - b.high, wide{a.high} - b.low, i.type);
    case opcode::multiply: return product_of(a, b, i.type);
    case opcode::maximum:
    case opcode::fmax: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case opcode::minimum:
    case opcode::fmin: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    // Division by 0 gives 0.
    case opcode::floor_divide: return between(-size_of(a), size_of(a), i.type);
    case opcode::remainder:
      return between(std::min<wide>(wide{b.low} + 1, 0), std::max<wide>(wide{b.high} - 1, 0), i.type);
    case opcode::fmod: return between(a.low < 0 ? -size_of(a) : 0, std::max<std::int64_t>(a.high, 0), i.type);
    // By a negative number, or by the width or more: 0, or the sign to the right.
    case opcode::right_shift: return {a.low < 0 ? a.low : 0, std::max<std::int64_t>(a.high, 0)};
    case opcode::left_shift:
      if (b.low < 0 || b.high > 30) return range_of_type(i.type);
      return product_of(a, {std::int64_t{1} << b.low, std::int64_t{1} << b.high}, i.type);
    case opcode::bitwise_and:
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      [[fallthrough]];
    case opcode::bitwise_or:
    case opcode::bitwise_xor: {
      const bool negative = a.low < 0 || b.low < 0;
      const wide mask = mask_of(a, b);
      return between(negative ? -mask - 1 : 0, mask, i.type);
    }
    default: return range_of_type(i.type);
  }
}

number_range narrowing::range_of(const instr& i) const {
  if (!is_whole(i.type)) return {};
  const number_range all = range_of_type(i.type);
  switch (i.op) {
    case opcode::coord: return of_coordinate(i.a);
    case opcode::param: return i.a < params_.size() && i.type == dtype::i64 ? params_[i.a] : all;
    case opcode::cast:
      return is_whole(i.arg) && !is_bool(i.type) ? between(ranges_[i.a].low, ranges_[i.a].high, i.type) : all;
    case opcode::negative: return between(-wide{ranges_[i.a].high}, -wide{ranges_[i.a].low}, i.type);
    case opcode::absolute: return between(0, size_of(ranges_[i.a]), i.type);
    case opcode::square: return between(0, size_of(ranges_[i.a]) * size_of(ranges_[i.a]), i.type);
    case opcode::sign: return {-1, 1};
    case opcode::select:
      return {std::min(ranges_[i.b].low, ranges_[i.c].low), std::max(ranges_[i.b].high, ranges_[i.c].high)};
    default: return operand_count(i.op) == 2 && i.arg == i.type ? of_binary(i) : all;
  }
}

/// Whether the operation exists on int32 with the same result, as far as that is a whole number.
bool keeps_values(opcode op) {
  switch (op) {
    case opcode::add:
    case opcode::subtract:
    case opcode::multiply:
    case opcode::negative:
    case opcode::absolute:
    case opcode::square:
    case opcode::sign:
    case opcode::maximum:
    case opcode::minimum:
    case opcode::fmax:
    case opcode::fmin:
    case opcode::floor_divide:
    case opcode::remainder:
    case opcode::fmod:
    case opcode::bitwise_and:
    case opcode::bitwise_or:
    case opcode::bitwise_xor:
    case opcode::left_shift:
    case opcode::right_shift:
    case opcode::select: return true;
    default: return false;
  }
}
/// Whether there are instructions for the operation on lanes of 16 bits.
bool has_short_lanes(opcode op) {
  return op != opcode::floor_divide && op != opcode::remainder && op != opcode::fmod && op != opcode::multiply &&
         op != opcode::square;
}
bool tests_values(opcode op) { return (op >= opcode::equal && op <= opcode::logical_xor) || op == opcode::logical_not; }

bool narrowing::is_narrow_source(const instr& i) {
  return i.op == opcode::coord || i.op == opcode::param || (i.op == opcode::cast && is_whole(i.arg));
}

/// Whether what the instruction reads in 64 bits may be read in 32.
bool narrowing::takes_narrow(const instr& i) const {
  if (i.arg != dtype::i64) return false;
  const bool converts = i.op == opcode::cast && i.type != dtype::i64 && keeps_values(p_.code[i.a].op);
  if (!converts && !tests_values(i.op) && !(keeps_values(i.op) && i.type == dtype::i64)) return false;
  bool all = true;
  p_.each_operand(i, [&](std::uint16_t r) { all = all && (!is_long(r) || narrowable_[r]); });
  return all;
}

/// Whether what a reduction reads, or a result, is int64 that may be made so of what is computed in fewer bits.
bool narrowing::is_widened(std::uint16_t reg) const {
  return widen_ && is_long(reg) && narrowable_[reg] && takes_narrow(p_.code[reg]);
}

/// Whether results have operations enough that conversions at their ends pay.
bool narrowing::is_worth_widening() const {
  std::size_t operations = 0;
  for (std::size_t k = 0; k < p_.code.size(); ++k) operations += narrowable_[k] && !is_narrow_source(p_.code[k]);
  return operations >= least_operations * p_.outputs.size();
}

void narrowing::find_uses() {
  const bool widens = p_.kind == kernel_kind::elementwise && is_worth_widening();  // results of reductions are few
  for (const output_desc& o : p_.outputs)
    (widens && is_widened(o.reg) ? uses_[o.reg].narrow : uses_[o.reg].as_it_is) = true;
  for (const reduce_desc& r : p_.reductions) (is_widened(r.reg) ? uses_[r.reg].narrow : uses_[r.reg].as_it_is) = true;
  for (std::size_t k = p_.code.size(); k-- > 0;) {
    const instr& i = p_.code[k];
    use& mine = uses_[k];
    mine.in_32 = takes_narrow(i) && (i.type != dtype::i64 || (narrowable_[k] && !mine.as_it_is));
    of_use_ = of_use_ || mine.in_32;
    p_.each_operand(i,
                    [&](std::uint16_t r) { (mine.in_32 && is_long(r) ? uses_[r].narrow : uses_[r].as_it_is) = true; });
  }
}

/// Whether results are small and everything that becomes narrower fits in 16 bits: twice as many lanes in a vector.
bool narrowing::may_be_short() const {
  const bool reduces = p_.kind == kernel_kind::reduce;
  if ((reduces && !widen_) || p_.outputs.empty()) return false;
  for (const reduce_desc& r : p_.reductions)
    if (!is_widened(r.reg) && itemsize(p_.code[r.reg].type) > 2) return false;
  for (const output_desc& o : p_.outputs)
    if (!reduces && !(is_worth_widening() && is_widened(o.reg)) && itemsize(p_.code[o.reg].type) > 2) return false;
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    const instr& i = p_.code[k];
    if (!uses_[k].in_32 && !uses_[k].narrow) continue;
    if (i.type == dtype::i64 && !fits_short(ranges_[k])) return false;
    if (uses_[k].in_32 && (!has_short_lanes(i.op) || (i.op == opcode::cast && !is_whole(i.type)))) return false;
  }
  return true;
}

/// The instruction as it was, and its value in 32 bits beside it where that is read.
void narrowing::copy(std::size_t k) {
  instr i = p_.code[k];
  const auto next = [&] { return static_cast<std::uint16_t>(out_.code.size()); };
  const bool widens = i.op == opcode::cast && i.type == dtype::i64 && is_whole(i.arg) && i.arg != dtype::i64;
  const std::uint16_t source = i.a;
  std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
  for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = place_[*operands[n]];
  if (!widens || uses_[k].as_it_is || !uses_[k].narrow) {
    place_[k] = next();
    out_.code.push_back(i);
  }
  if (!uses_[k].narrow || i.type != dtype::i64) return;
  if (widens && i.arg == short_) {
    narrow_[k] = place_[source];
    return;
  }
  narrow_[k] = next();
  instr cast{opcode::cast, short_, dtype::i64};
  cast.a = place_[k];
  if (widens) cast.arg = i.arg, cast.a = place_[source];
  out_.code.push_back(cast);
}

void narrowing::compute_narrow(std::size_t k) {
  instr i = p_.code[k];
  std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
  for (int n = 0; n < operand_count(i.op); ++n)
    *operands[n] = is_long(*operands[n]) ? narrow_[*operands[n]] : place_[*operands[n]];
  i.arg = short_;
  if (i.op == opcode::cast && i.type == short_) {
    place_[k] = i.a;
    return;
  }
  const bool is_result = i.type == dtype::i64;
  if (is_result) i.type = short_;
  (is_result ? narrow_ : place_)[k] = static_cast<std::uint16_t>(out_.code.size());
  out_.code.push_back(i);
}

/// A register of the old program as it is needed at the end, of int64 that is computed in fewer bits too.
std::uint16_t narrowing::widened(std::uint16_t reg) {
  if (!is_long(reg) || !uses_[reg].in_32) return place_[reg];
  instr cast{opcode::cast, dtype::i64, short_};
  cast.a = narrow_[reg];
  out_.code.push_back(cast);
  return static_cast<std::uint16_t>(out_.code.size() - 1);
}

/// At the end of what is computed for the reductions, or of results that are operations on elements.
void narrowing::widen_reduced() {
  for (reduce_desc& r : out_.reductions) {
    const bool plain = r.inner == r.reg;
    r.reg = widened(r.reg);
    if (plain) r.inner = r.reg;
  }
  if (p_.kind == kernel_kind::elementwise)
    for (output_desc& o : out_.outputs) o.reg = widened(o.reg);
  out_.epilogue = static_cast<std::uint16_t>(out_.code.size());
}

program narrowing::rewritten() {
  out_ = p_;
  out_.code.clear();
  place_.resize(p_.code.size());
  narrow_.resize(p_.code.size());
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    if (k == p_.epilogue) widen_reduced();
    if (uses_[k].in_32) compute_narrow(k);
    else copy(k);
  }
  if (p_.epilogue == p_.code.size()) widen_reduced();
  for (input_desc& in : out_.inputs)
    for (int g = 0; g < in.gathers; ++g) in.gather[g] = place_[in.gather[g]];
  if (p_.kind != kernel_kind::elementwise)
    for (output_desc& o : out_.outputs) o.reg = place_[o.reg];
  return std::move(out_);
}

/// Whether int64 is made of coordinates, or `of_numbers` of anything.
bool makes_wide(const program& p, bool of_numbers) {
  return std::any_of(p.code.begin(), p.code.end(), [&](const instr& i) {
    return i.op == opcode::coord || (of_numbers && i.type == dtype::i64 && operand_count(i.op) > 0);
  });
}

}  // namespace

void narrow_integers(program& p, const core::dims& extents, const std::vector<number_range>& params, bool widen) {
  if (p.kind == kernel_kind::staged || p.loop.end != 0 || !p.calls.empty() || !p.combines.empty() ||
      !makes_wide(p, widen))
    return;
  if (std::any_of(p.reductions.begin(), p.reductions.end(), [](const reduce_desc& r) { return r.tail != 0; })) return;
  narrowing n(p, extents, params, widen);
  if (n.is_of_use()) p = n.rewritten();
}

}  // namespace sinter::jit
