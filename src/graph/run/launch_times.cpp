// Measured launches.
#include "graph/run/launch_times.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

namespace sinter::graph {
namespace {

/// More launches than a program has in the loop that somebody looks at.
constexpr std::size_t most_launches = 4096;

struct measured_launches {
  std::mutex mutex;
  std::unordered_map<std::string, double> times;
  static measured_launches& instance() {
    static measured_launches& all = *new measured_launches;
    return all;
  }
};

std::string key_of(const runtime::backend& device, const jit::launch& l) {
  std::string key(1, static_cast<char>(device.slot()));
  const auto add = [&](const core::dims& numbers) {
    key.append(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::size_t>(numbers.size()) * sizeof(std::int64_t));
  };
  add(l.extents);
  key.push_back(static_cast<char>(l.kept));
  for (const auto* operands : {&l.inputs, &l.outputs})
    for (const jit::operand& o : *operands) add(o.strides);
  l.code->append_key(key);
  return key;
}

}  // namespace

void note_time(const runtime::backend& device, const jit::launch& l, double microseconds) {
  std::string key = key_of(device, l);
  measured_launches& all = measured_launches::instance();
  const std::lock_guard lock(all.mutex);
  if (all.times.size() >= most_launches) all.times.clear();
  all.times[std::move(key)] = microseconds;
}

double measured_time(const runtime::backend& device, const jit::launch& l) {
  const std::string key = key_of(device, l);
  measured_launches& all = measured_launches::instance();
  const std::lock_guard lock(all.mutex);
  const auto found = all.times.find(key);
  return found == all.times.end() ? -1 : found->second;
}

}  // namespace sinter::graph
