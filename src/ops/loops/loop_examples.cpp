#include "ops/loops/loop_examples.hpp"

#include <utility>

#include "ops/loops/step_signature.hpp"
#include "ops/vmap/own_calls.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {

loop_of_examples::loop_of_examples(const known_loop& one, std::int64_t count, const std::vector<bool>& mapped)
    : count_(count), all_(one) {
  const auto constants = mapped.end() - static_cast<std::ptrdiff_t>(one.constants());
  given_.assign(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(one.carried));
  inputs_.assign(mapped.begin(), constants);
  constants_.assign(constants, mapped.end());
  find_moving(one);
  sign();
  std::vector<bool> all_inputs = inputs_;
  all_inputs.insert(all_inputs.end(), constants_.begin(), constants_.end());
  all_.step = [step = one.step, count, moves = std::move(all_inputs), gives = results_](known_loop::arrays x,
                                                                                        known_loop::arrays k) {
    std::vector<ndarray> operands(x.begin(), x.end());
    operands.insert(operands.end(), k.begin(), k.end());
    const auto of_one = [&](const std::vector<ndarray>& ones) {
      const known_loop::arrays a(ones);
      return step(a.first(x.size()), a.subspan(x.size()));
    };
    return on_examples(count, of_one, operands, moves, gives);
  };
}

/// What the steps of all examples do follows from what that of one does, and from which arrays are mapped.
void loop_of_examples::sign() {
  if (all_.signature.empty()) return;
  std::string text = "examples";
  step_signature::add(text, count_);
  for (const auto* const mapped : {&inputs_, &constants_})
    for (const bool one : *mapped) text += one ? '1' : '0';
  all_.signature.insert(0, text);
}

/// An array of the carry depends on the example from some step on, or never.
void loop_of_examples::find_moving(const known_loop& one) {
  for (bool more = true; more;) {
    more = false;
    results_ = one.recorded->depend_on(inputs_, constants_);
    for (std::size_t j = 0; j < one.carried; ++j) {
      if (!results_[j] || inputs_[j]) continue;
      inputs_[j] = true;
      more = true;
    }
  }
  for (std::size_t j = 0; j < one.carried; ++j) results_[j] = inputs_[j];
}

std::vector<ndarray> loop_of_examples::operands(std::span<const ndarray> given) const {
  std::vector<ndarray> all(given.begin(), given.end());
  for (std::size_t j = 0; j < inputs_.size(); ++j) {
    if (!inputs_[j]) continue;
    if (j >= all_.carried) all[j] = moveaxis(all[j], 0, 1);
    else if (!given_[j]) all[j] = wrap(repeated_in_front(value_of(all[j]), count_));
  }
  return all;
}

std::vector<ndarray> loop_of_examples::results(std::span<const ndarray> given) const {
  std::vector<ndarray> all(given.begin(), given.end());
  for (std::size_t j = 0; j < all.size(); ++j) {
    const bool is_kept = j >= results_.size();  // a carry before each step
    const bool moves = is_kept ? bool(inputs_[j - results_.size()]) : bool(results_[j]);
    if (!moves) all[j] = wrap(repeated_in_front(value_of(all[j]), count_));
    else if (j >= all_.carried) all[j] = moveaxis(all[j], 1, 0);
  }
  return all;
}

}  // namespace sinter::ops
