// The search for the fastest of several configurations: compile all, compare their results, time those that agree.
#include "ops/tuning/tuner.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "runtime/parallel.hpp"
#include "sinter/error.hpp"

namespace sinter::ops {
namespace {

constexpr std::size_t longest_problem = 300;

/// The first line of a message and the first line that contains "error", since compilers' logs are long.
std::string one_line(const std::string& message) {
  std::string text = message.substr(0, message.find('\n'));
  for (std::size_t at = message.find('\n'); at != std::string::npos;) {
    const std::size_t begin = at + 1, end = std::min(message.find('\n', begin), message.size());
    const std::string line = message.substr(begin, end - begin);
    if (line.find("error") != std::string::npos) {
      text += ": " + line;
      break;
    }
    at = end == message.size() ? std::string::npos : end;
  }
  if (text.size() > longest_problem) text = text.substr(0, longest_problem - 3) + "...";
  return text.empty() ? "unknown error" : text;
}

class searcher {
 public:
  searcher(std::string_view kernel, const std::vector<std::string>& names, tuning_bench& bench,
           const std::function<void()>& tick)
      : kernel_(kernel), names_(names), bench_(bench), tick_(tick), outcomes_(names.size()), failures_(names.size()) {}

  std::vector<tuning_outcome> run() {
    runtime::parallel_for(static_cast<std::int64_t>(names_.size()), runtime::any_time, [&](std::int64_t n) {
      const auto k = static_cast<std::size_t>(n);
      attempt(k, [&] { bench_.compile(k); });
      tick_();
    });
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (outcomes_[k].works()) compare(k);
      tick_();
    }
    require_agreement();
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (outcomes_[k].works()) try_on_device(k, [&] { outcomes_[k].time = bench_.time(k); });
      tick_();
    }
    require_one();
    return std::move(outcomes_);
  }

 private:
  /// Whether the attempt succeeded; if not, the outcome has the problem.
  template <class F>
  bool attempt(std::size_t k, F&& f) {
    try {
      f();
      return true;
    } catch (const memory_error&) {
      throw;  // not the configuration's fault
    } catch (const error& e) {
      outcomes_[k].problem = one_line(e.what());
      failures_[k] = std::current_exception();
      return false;
    }
  }

  template <class F>
  bool try_on_device(std::size_t k, F&& f) {
    if (attempt(k, f)) return true;
    if (!bench_.usable())
      throw device_error(head() + "the device is unusable since " + names_[k] + " ran: " + outcomes_[k].problem);
    return false;
  }

  void compare(std::size_t k) {
    const bool ran = try_on_device(k, [&] {
      bench_.run(k);
      if (!reference_) bench_.keep();
      else if (const std::string d = bench_.difference(); !d.empty()) outcomes_[k].problem = "the result differs: " + d;
    });
    if (!ran) return;
    if (!reference_) reference_ = k;
    (outcomes_[k].works() ? agreeing_ : differing_).push_back(k);
  }

  void require_agreement() const {
    if (differing_.size() <= agreeing_.size()) return;
    throw value_error(
        head() + std::to_string(differing_.size()) + " of " + std::to_string(differing_.size() + agreeing_.size()) +
        " configurations differ from the first, " + names_[*reference_] +
        ", so it is not clear which of them are right (where rounding may differ, " + "say {.rtol = ...}); " +
        names_[differing_.front()] + ": " + outcomes_[differing_.front()].problem);
  }

  void require_one() const {
    if (std::any_of(outcomes_.begin(), outcomes_.end(), [](const tuning_outcome& o) { return o.works(); })) return;
    const std::string message =
        head() + "none of " + std::to_string(names_.size()) + " configurations works; " + names_[0] + ": ";
    try {
      std::rethrow_exception(failures_[0]);
    } catch (const compile_error& e) {
      throw compile_error(message + e.what());
    } catch (const dtype_error& e) {
      throw dtype_error(message + e.what());
    } catch (const device_error& e) {
      throw device_error(message + e.what());
    } catch (const error& e) {
      throw value_error(message + e.what());
    }
  }

  std::string head() const { return "[autotune] " + kernel_ + ": "; }

  const std::string kernel_;
  const std::vector<std::string>& names_;
  tuning_bench& bench_;
  const std::function<void()>& tick_;
  std::vector<tuning_outcome> outcomes_;
  std::vector<std::exception_ptr> failures_;
  std::optional<std::size_t> reference_;
  std::vector<std::size_t> agreeing_, differing_;
};

std::string power_above(double n) {
  return n < 1 ? "0" : "2^" + std::to_string(static_cast<int>(std::ceil(std::log2(n))));
}

}  // namespace

std::vector<tuning_outcome> search(std::string_view kernel, const std::vector<std::string>& names, tuning_bench& bench,
                                   const std::function<void()>& tick) {
  return searcher(kernel, names, bench, tick).run();
}

std::size_t fastest(const std::vector<tuning_outcome>& outcomes) {
  std::size_t best = outcomes.size();
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (!outcomes[k].works()) continue;
    if (best == outcomes.size() || outcomes[k].time.median < outcomes[best].time.median) best = k;
  }
  return best;
}

std::string default_size_class(double threads, double elements) {
  return power_above(threads) + " threads, " + power_above(elements) + " elements";
}

}  // namespace sinter::ops
