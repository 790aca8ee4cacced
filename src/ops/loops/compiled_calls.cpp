// Functions that are called once: what they record becomes a program that is run again for other elements.
//
// On the host a program is a captured step (graph/capture/step_work.hpp). Large arguments are read where they are, and large
// results are written to the arrays of the call; others, and those that libraries use, are copied to where the program's list
// reads them and from where it leaves them, so that every call has arrays of its own. Elsewhere it is a captured
// graph (graph/capture/capture.hpp) with arrays in the same two places.
#include "sinter/compile.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "core/shape.hpp"
#include "graph/capture/capture.hpp"
#include "graph/capture/step_work.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/trace.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/loops/step_copies.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0::detail {

using namespace ops;

namespace {

constexpr std::size_t most_programs = 64;

using values = std::vector<value>;

values in_memory(compiled_calls::arrays all) {
  values v;
  for (const ndarray* const a : all) v.push_back(value_of(*a, "compile"));
  graph::flush(v);
  return v;
}

/// The arrays of a call become others while the function is called.
class stand_ins {
 public:
  explicit stand_ins(compiled_calls::arrays of) : of_(of) {
    for (const ndarray* const a : of) before_.push_back(*a);
  }
  ~stand_ins() { put_back(); }
  stand_ins(const stand_ins&) = delete;
  stand_ins& operator=(const stand_ins&) = delete;
  void put_back() {
    for (std::size_t k = 0; k < before_.size(); ++k) *of_[k] = std::move(before_[k]);
    before_.clear();
  }

 private:
  compiled_calls::arrays of_;
  std::vector<ndarray> before_;
};

class program {
 public:
  virtual ~program() = default;
  virtual bool is_current() const = 0;
  virtual std::vector<ndarray> run(compiled_calls::arrays arguments) = 0;
  std::shared_ptr<const void> structure;
};

[[noreturn]] void refuse_effects() {
  fail<value_error>("compile",
                    "the function writes arrays that are not its own, or leaves arrays elsewhere than in its result: a "
                    "program that is run again would not");
}

class host_program final : public program {
 public:
  host_program(compiled_calls::arrays arguments, const compiled_calls::caller& call) {
    const values given = in_memory(arguments);
    runtime::stream& on = runtime::get_backend({}).current_stream();
    stand_ins others(arguments);
    graph::step_session session(on, graph::step_of::function);
    const graph::refused_draws none;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      inputs_.push_back(graph::unset_leaf(given[k]->shape, given[k]->type, given[k]->device));
      *arguments[k] = wrap(inputs_[k]);
    }
    structure = call([&](compiled_calls::arrays results) {
      values given;
      for (const ndarray* const r : results) given.push_back(value_of(*r, "compile"));
      session.give(std::move(given));
    });
    others.put_back();
    work_ = session.finish();
    if (!work_) refuse_effects();
    inputs_move_ = let_move(inputs_, access::reads);
    results_move_ = let_move(work_->results(), access::writes);
  }
  bool is_current() const override { return work_->is_current(); }
  std::vector<ndarray> run(compiled_calls::arrays arguments) override {
    const values given = in_memory(arguments);
    values results;
    for (const value& r : work_->results()) results.push_back(graph::unset_leaf(r->shape, r->type, r->device));
    runtime::backend& device = runtime::get_backend({});
    {
      const std::lock_guard one_at_a_time(mutex_);
      runtime::submission use(device);
      declare(use, given, results);
      pass(inputs_, given, inputs_move_, access::reads);
      pass(work_->results(), results, results_move_, access::writes);
      work_->run();
      for (std::size_t k = 0; k < results.size(); ++k)
        if (!results_move_[k]) copy(results[k], work_->results()[k]);
    }
    for (const value& r : results) {
      for (const value& v : given) graph::inherit_faults(r, {&v});
      for (const value& v : work_->reads()) graph::inherit_faults(r, {&v});
    }
    graph::report_captured_faults(device);
    std::vector<ndarray> all;
    for (value& r : results) all.push_back(wrap(std::move(r)));
    return all;
  }

 private:
  void declare(runtime::submission& use, const values& given, const values& results) const {
    work_->declare(use);
    for (const value& v : given) use.reads(*v->buffer);
    for (const value& v : inputs_) use.writes(*v->buffer);
    for (const value& v : results) use.writes(*v->buffer);
  }
  using access = runtime::moving_work::access;
  static void copy(const value& to, const value& from) { copy_block(address_of(to), address_of(from), from->bytes()); }

  std::vector<bool> let_move(std::span<const value> captured, access how) {
    std::vector<bool> moves;
    for (const value& v : captured) moves.push_back(v->bytes() >= large && work_->let_move(v, how));
    return moves;
  }
  /// Shows the program the arrays of a call, or copies the arguments to its own.
  void pass(std::span<const value> captured, const values& given, const std::vector<bool>& moves, access how) {
    for (std::size_t k = 0; k < given.size(); ++k)
      if (moves[k]) work_->move(captured[k], given[k]);
      else if (how == access::reads) copy(captured[k], given[k]);
  }

  static constexpr std::size_t large =
      128 << 10;  // bytes; what is smaller is copied faster than launches are prepared anew

  std::mutex mutex_;
  values inputs_;
  std::vector<bool> inputs_move_, results_move_;
  std::unique_ptr<graph::step_work> work_;
};

class device_program final : public program {
 public:
  device_program(compiled_calls::arrays arguments, runtime::device_id device, const compiled_calls::caller& call) {
    for (const ndarray* const a : arguments) inputs_.push_back(a->copy());
    for (const ndarray& x : inputs_) in_memory(std::array{const_cast<ndarray*>(&x)});
    stand_ins others(arguments);
    graph::capture_session session(runtime::get_backend(device).current_stream());
    const graph::refused_draws none;
    for (std::size_t k = 0; k < arguments.size(); ++k) *arguments[k] = inputs_[k];
    structure = call([&](compiled_calls::arrays results) {
      for (const ndarray* const r : results) results_.push_back(*r);
    });
    others.put_back();
    for (const auto& view : session.deferred()) resolve(*view);
    work_ = session.finish();
  }
  bool is_current() const override { return true; }
  std::vector<ndarray> run(compiled_calls::arrays arguments) override {
    const std::lock_guard one_at_a_time(mutex_);
    for (std::size_t k = 0; k < arguments.size(); ++k) inputs_[k]() = *arguments[k];
    work_->launch(work_->device().current_stream());
    std::vector<ndarray> all;
    for (const ndarray& r : results_) all.push_back(r.copy());
    return all;
  }

 private:
  std::mutex mutex_;
  std::vector<ndarray> inputs_, results_;
  std::unique_ptr<graph::replay> work_;
};

/// Of all arguments; of none the default one.
runtime::device_id device_of(compiled_calls::arrays arguments) {
  runtime::device_id device =
      arguments.empty() ? runtime::default_device() : view_of(*arguments[0], "compile").device();
  for (const ndarray* const a : arguments)
    if (const runtime::device_id other = view_of(*a, "compile").device(); !(other == device))
      fail<device_error>("compile", "arguments are on ", device, " and on ", other);
  if (device.kind == runtime::device_kind::mesh)
    fail<device_error>("compile", "arguments are on ", device, ", whose work cannot be captured");
  return device;
}

void add_kinds(std::string& key, compiled_calls::arrays arguments, runtime::device_id device) {
  add_number_to_key(key, device.kind);
  add_number_to_key(key, device.index);
  for (const ndarray* const a : arguments) {
    const graph::array_view& v = view_of(*a, "compile");
    add_number_to_key(key, v.type);
    add_number_to_key(key, v.shape.size());
    for (const std::int64_t n : v.shape) add_number_to_key(key, n);
  }
  add_number_to_key(key, graph::fast_math());
}

std::shared_ptr<program> recorded(compiled_calls::arrays arguments, runtime::device_id device,
                                  const compiled_calls::caller& call) {
  try {
    if (device.kind == runtime::device_kind::cpu) return std::make_shared<host_program>(arguments, call);
    return std::make_shared<device_program>(arguments, device, call);
  } catch (const device_error& e) {
    fail<device_error>("compile", "the function cannot become a program that is run again: ", e.what());
  }
}

}  // namespace

struct compiled_calls::table {
  struct slot {
    std::shared_ptr<program> what;
    std::uint64_t last_use = 0;
  };
  std::mutex mutex;
  std::unordered_map<std::string, slot> all;
  std::uint64_t uses = 0;

  std::shared_ptr<program> find(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto found = all.find(key);
    if (found == all.end()) return nullptr;
    found->second.last_use = ++uses;
    return found->second.what;
  }
  void keep(const std::string& key, std::shared_ptr<program> what) {
    const std::lock_guard lock(mutex);
    all[key] = {std::move(what), ++uses};
    if (all.size() <= most_programs) return;
    all.erase(std::min_element(all.begin(), all.end(),
                               [](auto& a, auto& b) { return a.second.last_use < b.second.last_use; }));
  }
};

compiled_calls::compiled_calls() : table_(std::make_shared<table>()) {}

bool compiled_calls::are_followed() { return is_recorded_for_later() || graph::example_source::innermost() != nullptr; }

std::size_t compiled_calls::size() const {
  const std::lock_guard lock(table_->mutex);
  return table_->all.size();
}

std::vector<ndarray> compiled_calls::run(std::string key, arrays arguments, const caller& call,
                                         std::shared_ptr<const void>& structure) const {
  const runtime::device_id device = device_of(arguments);
  add_kinds(key, arguments, device);
  std::shared_ptr<program> known = table_->find(key);
  if (!known || !known->is_current()) {
    known = recorded(arguments, device, call);
    table_->keep(key, known);
  }
  structure = known->structure;
  return known->run(arguments);
}

}  // namespace sinter::inline v0::detail
