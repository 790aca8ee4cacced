// Results of searches, as text in the disk cache. The cache compares whole keys, verifies checksums, and replaces
// entries atomically, so that processes may tune and look up concurrently; text that is not exactly in this format is
// ignored.
#include <charconv>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "ops/base/hooks.hpp"
#include "ops/tuning/tuner.hpp"
#include "platform/disk_cache.hpp"

namespace sinter::ops {
namespace {

constexpr std::string_view first_line = "sinter tuning 1", last_line = "end";

struct known_tunings {
  std::mutex mutex;
  std::unordered_map<std::string, std::string> texts;
};

known_tunings& known() {
  static known_tunings& table = *new known_tunings;
  return table;
}

std::string one_line_of(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

std::string number(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

/// Parses lines, words and numbers from the front of a text; `good` becomes false at the first mismatch.
class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}
  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return rest_.empty(); }

  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return fail();
    return take(end);
  }
  std::string_view word() {
    const std::size_t end = rest_.find_first_of(" \n");
    if (end == std::string_view::npos || rest_[end] != ' ') return fail();
    return take(end);
  }
  double seconds() {
    const std::string_view text = word();
    double x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(x) || x < 0) fail();
    return x;
  }
  void expect(bool met) {
    if (!met) fail();
  }

 private:
  std::string_view take(std::size_t end) {
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return part;
  }
  std::string_view fail() {
    good_ = false;
    rest_ = {};
    return {};
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::string encode_tuning(const std::vector<std::string>& names, const std::vector<tuning_outcome>& outcomes) {
  std::string text = std::string(first_line) + "\n";
  for (std::size_t k = 0; k < names.size(); ++k) {
    const tuning_outcome& o = outcomes[k];
    text += "configuration " + one_line_of(names[k]) + "\n";
    if (o.works())
      text += "seconds " + number(o.time.median) + " " + number(o.time.min) + " " + number(o.time.max) + " " +
              number(o.time.iqr) + " median, min, max, quartiles apart\n";
    else text += "problem " + one_line_of(o.problem) + "\n";
  }
  return text + std::string(last_line) + "\n";
}

std::optional<std::vector<tuning_outcome>> decode_tuning(std::string_view text, const std::vector<std::string>& names) {
  reader r(text);
  r.expect(r.line() == first_line);
  std::vector<tuning_outcome> outcomes(names.size());
  for (std::size_t k = 0; k < names.size() && r.good(); ++k) {
    tuning_outcome& o = outcomes[k];
    r.expect(r.word() == "configuration");
    r.expect(r.line() == one_line_of(names[k]));
    const std::string_view kind = r.word();
    if (kind == "seconds") {
      for (double* field : {&o.time.median, &o.time.min, &o.time.max, &o.time.iqr}) *field = r.seconds();
      r.line();
    } else {
      r.expect(kind == "problem");
      o.problem = r.line();
      r.expect(!o.problem.empty());
    }
  }
  r.expect(r.line() == last_line && r.at_end());
  if (!r.good() || fastest(outcomes) == outcomes.size()) return std::nullopt;
  return outcomes;
}

std::optional<std::vector<tuning_outcome>> recall_tuning(const std::string& key,
                                                         const std::vector<std::string>& names) {
  known_tunings& table = known();
  {
    const std::lock_guard lock(table.mutex);
    if (const auto found = table.texts.find(key); found != table.texts.end())
      return decode_tuning(found->second, names);
  }
  const auto stored = platform::disk_cache::instance().load(key);
  if (!stored) return std::nullopt;
  auto outcomes = decode_tuning({stored->data(), stored->size()}, names);
  if (!outcomes) {
    platform::disk_cache::instance().remove(key);
    return std::nullopt;
  }
  const std::lock_guard lock(table.mutex);
  table.texts.emplace(key, std::string(stored->begin(), stored->end()));
  return outcomes;
}

void remember_tuning(const std::string& key, const std::vector<std::string>& names,
                     const std::vector<tuning_outcome>& outcomes) {
  const std::string text = encode_tuning(names, outcomes);
  platform::disk_cache::instance().store(key, {text.begin(), text.end()});
  known_tunings& table = known();
  const std::lock_guard lock(table.mutex);
  table.texts.insert_or_assign(key, text);
}

void forget_tunings_for_tests() {
  known_tunings& table = known();
  const std::lock_guard lock(table.mutex);
  table.texts.clear();
}

}  // namespace sinter::ops
