// Plans of a library, cached by key; the least recently used one is evicted when there are too many.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace sinter::runtime {

template <class Plan>
class plan_cache {
 public:
  explicit plan_cache(std::size_t limit) : limit_(limit) {}

  /// The plan for a key, made by `make` where there is none. It stays alive for its holder when it is evicted. One
  /// plan is made at a time, as planners of libraries require.
  template <class Make>
  std::shared_ptr<Plan> get(const std::string& key, Make make) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    std::shared_ptr<Plan> plan = make();
    entries fresh;
    fresh.emplace_front(key, plan);
    places_.emplace(key, fresh.begin());
    order_.splice(order_.begin(), fresh);
    if (order_.size() > limit_) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return plan;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }
  std::size_t limit() const noexcept { return limit_; }
  void clear() {
    const std::lock_guard lock(mutex_);
    places_.clear();
    order_.clear();
  }

 private:
  using entries = std::list<std::pair<std::string, std::shared_ptr<Plan>>>;
  std::mutex mutex_;
  std::size_t limit_;
  entries order_;  // the most recently used one first
  std::unordered_map<std::string, typename entries::iterator> places_;
};

}  // namespace sinter::runtime
