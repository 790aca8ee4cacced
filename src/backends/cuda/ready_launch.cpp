#include "backends/cuda/ready_launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sinter::cuda {
namespace {

/// Beyond it no access and no run asks how an array is aligned.
constexpr std::uintptr_t alignment = 256;

std::uintptr_t number(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

bool same(const jit::scalar& a, const jit::scalar& b) noexcept {
  if (a.type != b.type) return false;
  if (is_bool(a.type)) return a.b == b.b;
  if (is_integer(a.type)) return a.u == b.u;
  return std::bit_cast<std::uint64_t>(a.f[0]) == std::bit_cast<std::uint64_t>(b.f[0]) &&
         std::bit_cast<std::uint64_t>(a.f[1]) == std::bit_cast<std::uint64_t>(b.f[1]);
}

}  // namespace

void ready_launch::note(const jit::launch& recorded, const jit::launch& lowered, const kernel& code, const call& how,
                        std::span<const std::uint64_t> words, std::span<const pointer_word> pointers) {
  code_ = nullptr;
  places_.clear();
  addresses_.clear();
  each_operand(recorded, [&](const jit::operand& o) {
    const auto first = std::find_if(places_.begin(), places_.end(), [&](const place& p) { return p.base == o.base; });
    places_.push_back({o.base, o.offset, static_cast<std::uint16_t>(first - places_.begin())});
  });
  for (const pointer_word& p : pointers) {
    std::int32_t of = p.what == jit::cuda_field::role::fault ? of_fault : of_scratch;
    if (p.what == jit::cuda_field::role::input || p.what == jit::cuda_field::role::output) {
      const auto& operands = p.what == jit::cuda_field::role::input ? lowered.inputs : lowered.outputs;
      const void* const base = operands[p.operand].base;
      const auto found = std::find_if(places_.begin(), places_.end(), [&](const place& x) { return x.base == base; });
      if (found == places_.end()) return;
      of = static_cast<std::int32_t>(found - places_.begin());
    }
    addresses_.push_back({p.word, of});
  }
  params_ = recorded.params;
  words_.assign(words.begin(), words.end());
  how_ = how;
  code_ = &code;
}

bool ready_launch::fits(const jit::launch& l) const noexcept {
  if (!code_ || l.inputs.size() + l.outputs.size() != places_.size() || l.params.size() != params_.size()) return false;
  std::size_t k = 0;
  bool all = true;
  const auto operand = [&](std::size_t j) -> const jit::operand& {
    return j < l.inputs.size() ? l.inputs[j] : l.outputs[j - l.inputs.size()];
  };
  each_operand(l, [&](const jit::operand& o) {
    const place& p = places_[k];
    all = all && o.offset == p.offset && (number(o.base) - number(p.base)) % alignment == 0;
    // In one array as before, and in no other one's.
    if (p.first != k) all = all && o.base == operand(p.first).base;
    else
      for (std::size_t j = 0; j < k && all; ++j) all = o.base != operand(j).base;
    ++k;
  });
  return all && std::equal(params_.begin(), params_.end(), l.params.begin(), same);
}

std::span<const std::uint64_t> ready_launch::words(const jit::launch& l, const int* fault,
                                                   const void* scratch) noexcept {
  for (const address& a : addresses_) {
    std::uint64_t& word = words_[a.word];
    if (a.place == of_fault) word = number(fault);
    else if (a.place == of_scratch) word = number(scratch);
    else {
      const auto k = static_cast<std::size_t>(a.place);
      const void* const now = k < l.inputs.size() ? l.inputs[k].base : l.outputs[k - l.inputs.size()].base;
      word += number(now) - number(places_[k].base);
    }
  }
  std::size_t k = 0;
  each_operand(l, [&](const jit::operand& o) { places_[k++].base = o.base; });
  return words_;
}

}  // namespace sinter::cuda
