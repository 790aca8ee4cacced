// Several GPUs in one process: a thread for each, its share of the observations and a copy of the references on each,
// the optimised raw kernels on each, the results gathered in host memory.
#include "method_multi_gpu.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>
#include <vector>

#include "chord_search.hpp"
#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

/// One device with its share of the work. Steps keep the first exception, after which they do nothing.
class worker {
 public:
  worker(sn::device on, share rows, const task& t) : on_(on), rows_(rows), task_(t) {}

  void upload() {
    step([&] {
      p_ = sn::array(task_.cities.radians.data() + 2 * rows_.first, {rows_.count, 2}, {.device = on_});
      q_ = nearest_neighbor::upload(task_.airports, on_);
      sn::synchronize(on_);
    });
  }
  void search(const chord_search& kernels) {
    step([&] {
      found_ = kernels(p_, q_);
      sn::synchronize(on_);
    });
  }
  void download(result& all) {
    step([&] {
      const auto index = found_.index.host<std::int64_t>();
      const auto distance = found_.distance.host<float>();
      std::copy(index.begin(), index.end(), all.index.begin() + rows_.first);
      std::copy(distance.begin(), distance.end(), all.distance.begin() + rows_.first);
    });
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class F>
  void step(F&& work) {
    if (failure_ || rows_.count == 0) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  sn::device on_;
  share rows_;
  const task& task_;
  ndarray p_, q_;
  neighbours found_;
  std::exception_ptr failure_;
};

/// Threads that do the same step at the same time on request, and stay alive in between.
class team {
 public:
  explicit team(std::vector<worker>& workers) : gate_(static_cast<std::ptrdiff_t>(workers.size()) + 1) {
    for (auto& w : workers)
      threads_.emplace_back([this, &w] {
        while (gate_.arrive_and_wait(), step_) {
          step_(w);
          gate_.arrive_and_wait();
        }
      });
  }
  ~team() {
    step_ = nullptr;
    gate_.arrive_and_wait();
  }
  /// Returns when all have done it.
  void all(std::function<void(worker&)> step) {
    step_ = std::move(step);
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
  }

 private:
  std::barrier<> gate_;
  std::function<void(worker&)> step_;
  std::vector<std::jthread> threads_;  // joined first
};

outcome search_across(int devices, const task& t) {
  outcome out;
  out.found.index.resize(static_cast<std::size_t>(t.cities.count()));
  out.found.distance.resize(out.found.index.size());
  std::vector<worker> workers;
  for (int d = 0; d < devices; ++d) workers.emplace_back(sn::cuda(d), share_of(t.cities.count(), devices, d), t);
  const chord_search kernels;
  {
    team threads(workers);
    out.seconds.uploading = seconds_of([&] { threads.all([](worker& w) { w.upload(); }); });
    time_search([&] { threads.all([&](worker& w) { w.search(kernels); }); }, t.o.repeat, out.seconds);
    out.seconds.downloading = seconds_of([&] { threads.all([&](worker& w) { w.download(out.found); }); });
  }
  for (const auto& w : workers) w.rethrow();
  return out;
}

std::string why_not(const options& o, int devices) {
  if (const auto why = why_no_gpu(o); !why.empty()) return why;
  const int there = sn::device_count(sn::device_kind::cuda);
  if (devices > there) return "--devices " + std::to_string(devices) + ", but there are " + std::to_string(there);
  return {};
}

}  // namespace

share share_of(std::int64_t rows, int devices, int device) {
  const std::int64_t first = rows / devices * device + std::min<std::int64_t>(rows % devices, device);
  return {first, rows / devices + (device < rows % devices)};
}

std::vector<rung> multi_gpu_rungs(const options& o) {
  const int devices = o.devices > 0 ? o.devices : std::max(1, sn::device_count(sn::device_kind::cuda));
  const std::string named = devices == 1 ? "cuda:0" : "cuda:0-" + std::to_string(devices - 1);
  return {{"multi_gpu", std::to_string(devices) + (devices == 1 ? " device" : " devices"), named, why_not(o, devices),
           [devices](const task& t) { return search_across(devices, t); }}};
}

}  // namespace nearest_neighbor
