// autotune: how a configuration of a raw kernel is compiled and run, and the table of results.
#include "sinter/autotune.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ostream>

#include "core/identifier.hpp"
#include "ops/base/access.hpp"
#include "ops/raw/state.hpp"
#include "ops/tuning/autotune_space.hpp"
#include "ops/tuning/format_time.hpp"
#include "ops/tuning/sample_arrays.hpp"
#include "ops/tuning/tuner.hpp"
#include "platform/files.hpp"
#include "sinter/profile.hpp"
#include "sinter/progress.hpp"

namespace sinter::ops {

struct raw_kernel_access {
  static void start(const raw_kernel& k, const launch& how, const detail::kernel_argument* arguments,
                    std::size_t count) {
    k.start(how, arguments, count);
  }
};

struct tuning_task {
  std::string source, name;
  std::vector<configuration> configurations;
  autotune_kw kw;
  std::vector<raw_kernel> kernels;  // one per configuration
};

namespace {

using detail::argument_kind;
using detail::kernel_argument;

/// The arguments of every launch of a search. Read-only arrays are evaluated and copied into the layout that a launch
/// needs, since launches would otherwise do it within the timing.
class sample_arguments {
 public:
  sample_arguments(const kernel_argument* first, std::size_t count) : list_(first, first + count) {
    copies_.reserve(count);
    for (kernel_argument& a : list_)
      if (is_array(a) && (a.readonly || a.kind == argument_kind::in)) evaluate_argument(a);
  }
  const kernel_argument* data() const noexcept { return list_.data(); }
  std::size_t size() const noexcept { return list_.size(); }

  std::vector<sample_arrays::entry> written() const {
    std::vector<sample_arrays::entry> arrays;
    for (std::size_t k = 0; k < list_.size(); ++k)
      if (is_array(list_[k]) && !list_[k].readonly) arrays.push_back({static_cast<int>(k) + 1, array_of(list_[k])});
    return arrays;
  }

 private:
  void evaluate_argument(kernel_argument& a) {
    const graph::view_ref& v = ndarray_access::ref(array_of(a));
    if (a.kind == argument_kind::strided || graph::in_c_order(*v)) {
      graph::evaluate(std::span(&v, 1));
      return;
    }
    copies_.push_back(array_of(a).copy());
    graph::evaluate(std::span(&ndarray_access::ref(copies_.back()), 1));
    a.value = &copies_.back();
  }

  std::vector<kernel_argument> list_;
  std::vector<ndarray> copies_;
};

class raw_bench final : public tuning_bench {
 public:
  raw_bench(const tuning_task& task, const device& on, const sample_arguments& arguments)
      : task_(task), on_(on), arguments_(arguments), samples_(arguments.written(), {task.kw.rtol, task.kw.atol}) {}
  /// Restores the samples to the caller's contents; that fails only if the device is lost, and the samples with it.
  ~raw_bench() override {
    try {
      samples_.restore();
    } catch (...) {
      return;
    }
  }

  void compile(std::size_t k) override { (void)task_.kernels[k].attributes(on_); }
  void run(std::size_t k) override {
    samples_.restore();
    start(k);
    synchronize(on_);
  }
  void keep() override { samples_.keep(); }
  std::string difference() override { return samples_.difference(); }
  timing time(std::size_t k) override {
    return benchmark([&] { start(k); }, {.repeat = task_.kw.repeat,
                                         .warmup = task_.kw.warmup,
                                         .name = to_string(task_.configurations[k]),
                                         .device = on_,
                                         .setup = [&] { samples_.restore(); }})
        .device;
  }
  bool usable() override {
    try {
      runtime::get_backend(to_id(on_)).synchronize();
      return true;
    } catch (const error&) {
      return false;
    }
  }

 private:
  void start(std::size_t k) const {
    raw_kernel_access::start(task_.kernels[k], task_.configurations[k].launch, arguments_.data(), arguments_.size());
  }

  const tuning_task& task_;
  const device on_;
  const sample_arguments& arguments_;
  sample_arrays samples_;
};

/// The texts that identify configurations in stored results: without the grids, which differ between sizes of one
/// class, unless two configurations differ in nothing else.
std::vector<std::string> identities_of(const std::vector<configuration>& all) {
  std::vector<std::string> gridless, identities;
  for (const configuration& c : all) gridless.push_back(text_of(c, false));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool unique = std::count(gridless.begin(), gridless.end(), gridless[k]) == 1;
    identities.push_back(unique ? gridless[k] : text_of(all[k], true));
  }
  return identities;
}

double count_of(const dims& d) {
  return static_cast<double>(d.x) * static_cast<double>(d.y) * static_cast<double>(d.z);
}

std::string size_class_of(const tuning_task& task, const kernel_argument* samples, std::size_t count) {
  if (!task.kw.size_class.empty()) return task.kw.size_class;
  double threads = 0, elements = 0;
  for (const configuration& c : task.configurations)
    threads = std::max(threads, count_of(c.launch.grid) * count_of(c.launch.block));
  for (std::size_t k = 0; k < count; ++k)
    if (is_array(samples[k])) elements = std::max(elements, static_cast<double>(array_of(samples[k]).size()));
  return default_size_class(threads, elements);
}

std::string type_of(const kernel_argument& a) {
  if (is_array(a)) return std::string(name(array_of(a).dtype())) + (a.readonly ? " in" : " array");
  return std::to_string(a.bytes) + " bytes" + (a.type ? " of " + std::string(name(*a.type)) : "");
}

/// A key of length-prefixed fields and counts, so that no two tasks have the same key.
std::string key_of(const tuning_task& task, const std::vector<std::string>& identities, const tuned& result,
                   const kernel_argument* samples, std::size_t count) {
  std::string key = "sinter tuning 1\n";
  const auto add = [&](std::string_view field) { platform::append_field(key, field); };
  const auto add_count = [&](std::size_t n) { add(std::to_string(n)); };
  for (const std::string* text : {&task.source, &task.name, &result.hardware, &result.size_class}) add(*text);
  add(task.kw.fast_math ? "fast math" : "precise");
  for (const std::optional<double>& t : {task.kw.rtol, task.kw.atol}) {
    char bits[sizeof(double)] = {};
    if (t) std::memcpy(bits, &*t, sizeof bits);
    add(t ? std::string_view(bits, sizeof bits) : "exact");
  }
  add_count(task.kw.options.size());
  for (const std::string& option : task.kw.options) add(option);
  add_count(count);
  for (std::size_t k = 0; k < count; ++k) add(type_of(samples[k]));
  for (std::size_t k = 0; k < identities.size(); ++k) {
    add_count(task.configurations[k].macros.size());
    for (const macro& m : task.configurations[k].macros) {
      add(m.name);
      add(m.value.text());
    }
    add(identities[k]);
  }
  return key;
}

void check_macros(const configuration& c, const std::string& kernel) {
  for (const macro& m : c.macros) {
    if (!core::is_identifier(m.name))
      fail<value_error>("autotune", kernel, ": '", m.name, "' is not the name of a macro");
    const auto same = [&](const macro& other) { return other.name == m.name; };
    if (std::count_if(c.macros.begin(), c.macros.end(), same) > 1)
      fail<value_error>("autotune", kernel, ": macro ", m.name, " is given twice in one configuration");
  }
}

raw_kernel kernel_of(const tuning_task& task, const configuration& c) {
  raw_kw kw{.options = task.kw.options, .fast_math = task.kw.fast_math};
  for (const macro& m : c.macros) kw.options.push_back("-D" + m.name + "=" + m.value.text());
  return raw_kernel(task.source, task.name, kw);
}

/// The device for the search: that of the first array, which must be a GPU.
device device_of(const tuning_task& task, const kernel_argument* samples, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    if (!is_array(samples[k])) continue;
    const runtime::device_id id = view_of(array_of(samples[k]), task.name.c_str()).device();
    require_gpu(id, task.name, "argument " + std::to_string(k + 1) + " is on ");
    return to_public(id);
  }
  return to_public(raw_device({}, task.name));
}

std::vector<tuning_outcome> try_all(const tuning_task& task, const device& on, const kernel_argument* samples,
                                    std::size_t count) {
  const range shown("sinter: autotune " + task.name);
  synchronize(on);  // reports errors of earlier work here, so that they are not attributed to a configuration
  std::vector<std::string> names;
  for (const configuration& c : task.configurations) names.push_back(to_string(c));
  const sample_arguments arguments(samples, count);
  raw_bench bench(task, on, arguments);
  progress bar(static_cast<std::int64_t>(tuning_ticks(names.size())), {.name = "tuning " + task.name, .unit = "steps"});
  return search(task.name, names, bench, [&] { bar.tick(); });
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

autotune::autotune(std::string_view source, std::string_view name, std::vector<configuration> configurations,
                   const autotune_kw& kw) {
  auto task = std::make_shared<ops::tuning_task>();
  task->source = source;
  task->name = name;
  task->kw = kw;
  task->configurations = std::move(configurations);
  if (task->configurations.empty()) ops::fail<value_error>("autotune", task->name, ": there are no configurations");
  for (const configuration& c : task->configurations) {
    ops::check_macros(c, task->name);
    task->kernels.push_back(ops::kernel_of(*task, c));
  }
  task_ = std::move(task);
}

tuned autotune::run(const detail::kernel_argument* samples, std::size_t count) const {
  const ops::tuning_task& task = *task_;
  tuned result;
  result.name = task.name;
  result.on = ops::device_of(task, samples, count);
  result.hardware = runtime::get_backend(ops::to_id(result.on)).identity();
  result.size_class = ops::size_class_of(task, samples, count);
  const std::vector<std::string> identities = ops::identities_of(task.configurations);
  const std::string key = ops::key_of(task, identities, result, samples, count);

  std::optional<std::vector<ops::tuning_outcome>> outcomes;
  if (task.kw.remember) outcomes = ops::recall_tuning(key, identities);
  result.remembered = outcomes.has_value();
  if (!outcomes) {
    outcomes = ops::try_all(task, result.on, samples, count);
    if (task.kw.remember) ops::remember_tuning(key, identities, *outcomes);
  }
  result.fastest = ops::fastest(*outcomes);
  for (std::size_t k = 0; k < outcomes->size(); ++k)
    result.trials.push_back(
        {task.configurations[k], std::move((*outcomes)[k].time), std::move((*outcomes)[k].problem)});
  result.kernel = task.kernels[result.fastest];
  return result;
}

std::ostream& operator<<(std::ostream& out, const tuned& t) {
  out << t.name << " on " << t.on << " (" << t.hardware << "), " << t.size_class << ": " << t.trials.size()
      << (t.trials.size() == 1 ? " configuration" : " configurations") << (t.remembered ? ", remembered" : "") << '\n';
  std::vector<const trial*> order;
  for (const trial& x : t.trials)
    if (x.works()) order.push_back(&x);
  std::stable_sort(order.begin(), order.end(),
                   [](const trial* a, const trial* b) { return a->time.median < b->time.median; });
  out << "    median       min    spread   ratio  configuration\n";
  for (const trial* x : order) {
    char line[128];
    std::snprintf(line, sizeof line, "%10s%10s%10s%8.2f  ", ops::format_seconds(x->time.median).c_str(),
                  ops::format_seconds(x->time.min).c_str(), ops::format_percent(x->time.spread()).c_str(),
                  t.best().time.median > 0 ? x->time.median / t.best().time.median : 1.0);
    out << line << to_string(x->config) << '\n';
  }
  for (const trial& x : t.trials)
    if (!x.works()) out << "  left out: " << to_string(x.config) << ": " << x.problem << '\n';
  return out;
}

}  // namespace sinter::inline v0
