// The backend interface over the CPU drivers: memory, preparation, launches, faults, figures.
#include "backends/cpu/backend.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/copies/row_copy.hpp"
#include "backends/cpu/copies/transposed_copy.hpp"
#include "backends/cpu/fft/fourier.hpp"
#include "backends/cpu/kernels/hooks.hpp"
#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/row_gather.hpp"
#include "backends/cpu/kernels/row_reads.hpp"
#include "backends/cpu/kernels/segments.hpp"
#include "backends/cpu/linalg/products.hpp"
#include "backends/cpu/linalg/solvers.hpp"
#include "backends/cpu/parts_table.hpp"
#include "backends/cpu/prepared_table.hpp"
#include "backends/cpu/reduce/groups.hpp"
#include "backends/cpu/reduce/stages.hpp"
#include "backends/cpu/reduce/user_reducer.hpp"
#include "backends/cpu/schedule.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "backends/cpu/stream.hpp"
#include "jit/compile.hpp"
#include "jit/program/addition_order.hpp"
#include "jit/program/fault_words.hpp"
#include "runtime/parallel.hpp"
#include "runtime/pool.hpp"
#include "runtime/trace.hpp"

namespace sinter::cpu {
namespace {

using jit::launch;
using runtime::prepared;

std::atomic<launch_observer> current_observer{nullptr};
std::atomic<std::uint64_t> copied{0};

class host_memory final : public runtime::memory_source {
 public:
  void* allocate(std::size_t bytes) noexcept override {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    void* p = nullptr;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&p, bytes >= 2 * huge_page ? huge_page : 256, bytes) != 0)
      return nullptr;
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * huge_page) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
  }
  void release(void* p, std::size_t) noexcept override { std::free(p); }
  std::size_t available() const noexcept override {
    const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) : 0;
  }
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "CPU";
}

bool may_skip(const launch& l) {
  if (l.code->kind == jit::kernel_kind::staged || !skips_tails() || !bound_tail(l)) return false;
  return !shape_of(l).shared;  // short rows and few columns share blocks: nothing to skip there
}

/// An epilogue that only stores the reductions runs no code.
bool has_epilogue(const jit::program& p) {
  for (auto& o : p.outputs)
    if (p.code[o.reg].op != jit::opcode::reduced) return true;
  return false;
}

void trace_launch(const prepared& p, const launch& l, std::chrono::steady_clock::duration took) {
  const double us = std::chrono::duration<double, std::micro>(took).count();
  const block_code* const code = p.inner ? p.inner : p.main;
  const bool compiled = code && code->is_compiled();
  char time[32];
  std::snprintf(time, sizeof time, "%.1f us", us);
  runtime::trace("cpu launch sn_" + l.code->label() + " " + core::to_string(l.extents) + ", " +
                 (!code      ? "in steps, "
                  : compiled ? "compiled, "
                             : "interpreted, ") +
                 time);
}

/// The host does the work before the call returns.
class wall_timer final : public runtime::timer {
 public:
  void start(double) override { begin_ = std::chrono::steady_clock::now(); }
  void stop() override { end_ = std::chrono::steady_clock::now(); }
  bool is_held() override { return false; }
  double seconds() override { return std::chrono::duration<double>(end_ - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_, end_;
};

class cpu_backend final : public runtime::backend {
 public:
  cpu_backend() : pool_(std::make_unique<host_memory>(), {.name = "CPU memory", .host = true}) {
    start({}, host_stream_, pool_);
  }

  runtime::device_id id() const override { return {}; }
  std::string description() const override {
    const int n = runtime::thread_count();
    return processor_name() + " (" + std::to_string(n) + (n == 1 ? " thread)" : " threads)");
  }
  std::string identity() const override { return description(); }
  bool host_addressable() const override { return true; }

  runtime::pool& memory_pool(memory_kind kind) override {
    if (kind == memory_kind::device) return pool_;
    if (kind == memory_kind::managed) throw device_error("[memory] the CPU has no managed memory: it is a GPU's");
    const std::lock_guard lock(stream_mutex_);
    if (!pinned_)
      pinned_ = std::make_unique<runtime::pool>(runtime::make_pinned_source(),
                                                runtime::pool::options{.name = "pinned memory", .kind = kind});
    return *pinned_;
  }

  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("bringing elements from the host");
    copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    refuse_in_capture("reading elements on the host");
    copy(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (recorder* r = recording()) [[unlikely]]
      return r->add(to, from, bytes);
    copied.fetch_add(bytes, std::memory_order_relaxed);
    constexpr std::size_t part = std::size_t{4} << 20;
    if (bytes < 2 * part) {
      if (bytes) std::memmove(to, from, bytes);
      return;
    }
    const auto parts = static_cast<std::int64_t>((bytes + part - 1) / part);
    runtime::parallel_for(parts, 0.1 * static_cast<double>(bytes), [&](std::int64_t k) {
      const std::size_t at = static_cast<std::size_t>(k) * part;
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, std::min(part, bytes - at));
    });
  }

  bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements) const override {
    return cpu::keeps_rows(p, rows, elements);
  }
  void prepare(std::span<const launch> launches, std::span<const prepared*> results) override {
    compile_list wanted;
    for (std::size_t k = 0; k < launches.size(); ++k) {
      const launch& l = launches[k];
      if (l.memo && l.memo->code) {
        const auto& known = *static_cast<const prepared*>(l.memo->code);
        count_work(known, l, copies_rows(l) ? 0 : core::element_count(l.extents), false, wanted);
        results[k] = &known;
        continue;
      }
      const bool in_rows = copies_rows(l), copied = in_rows || row_gather_of(l) || transposed_copy_of(l);
      const std::int64_t elements = copied ? 0 : core::element_count(l.extents);
      if (const auto parts = parts_.find(l)) {
        for (std::size_t part = 0; part < parts->parts.size(); ++part)
          count_work(*parts->code[part], parts->parts[part], parts->elements[part], false, wanted);
        results[k] = parts->code[0];
        continue;
      }
      std::vector<launch> pieces;
      if (!has_gathers(*l.code)) pieces = plain_parts_of(l).all;
      for (const launch& piece : pieces)
        (void)prepare_one(piece, copies_rows(piece) ? 0 : core::element_count(piece.extents), wanted, true);
      if (auto rows = row_reads_of(l); rows && pieces.empty() && elements > 0) {
        pieces.push_back(std::move(rows->plain));
        (void)prepare_one(pieces[0], copies_rows(pieces[0]) ? 0 : elements, wanted);
      }
      if (!pieces.empty()) {
        results[k] = &table_.find(l, needs_of(l, false, true));
        continue;
      }
      const prepared& p = prepare_one(l, elements, wanted, true);
      results[k] = &p;
      if (l.memo && (!copied || in_rows) && keeps_code(l)) l.memo->code = &p;
      if (!p.steps) continue;
      for (const launch& step : step_launches(*p.steps, l)) (void)prepare_one(step, elements, wanted);
    }
    compile_blocks(wanted.all());
    // After the compilation: observers do not get launches whose text does not compile.
    if (const auto observer = current_observer.load(std::memory_order_relaxed))
      for (const launch& l : launches) observer(l);
  }

  std::size_t scratch_bytes(const prepared& p, const launch& l) const override {
    if (p.steps) return stages_scratch(*p.steps, l);
    if (l.code->kind != jit::kernel_kind::reduce) return 0;
    const auto parts = parts_.find(l);
    return reduce_scratch(parts ? parts->of(l)[0] : l);
  }

  void run(const prepared& p, const launch& l, void* scratch) override {
    if (recorder* r = recording()) [[unlikely]]
      return r->add(p, l, scratch);
    ++launches_;
    fault_record fault;
    const bool traced = runtime::tracing();
    std::chrono::steady_clock::time_point begin;
    if (traced) begin = std::chrono::steady_clock::now();
    if (p.steps) {
      run_stages(
          *p.steps, l,
          [this](const launch& step) -> const prepared& { return table_.find(step, needs_of(step, false)); }, scratch,
          fault.words);
    } else if (const auto rows = row_gather_of(l)) {
      run_row_gather(*rows, fault.words);
    } else if (const auto copy = transposed_copy_of(l)) {
      run_transposed_copy(*copy);
    } else if (const auto moved = row_copy_of(l)) {
      run_row_copy(*moved);
    } else if (l.code->kind == jit::kernel_kind::elementwise) {
      run_parts(p, l, fault.words);
    } else if (const auto parts = parts_.find(l)) {
      run_reduce(*parts->code[0], parts->of(l)[0], {}, scratch, fault.words);
    } else {
      const auto tail = p.inner ? bound_tail(l) : std::nullopt;
      run_reduce(p, l, {.tail = tail ? &*tail : nullptr}, scratch, fault.words);
    }
    if (traced) trace_launch(p, l, std::chrono::steady_clock::now() - begin);
    if (fault.words[0] == 0) return;
    if (!l.fault) return keep_fault(fault);
    std::copy_n(fault.words + 1, jit::fault_words - 1, l.fault + 1);
    std::atomic_ref<int>(*l.fault).store(fault.words[0]);
  }

  void synchronize() override {}
  runtime::data_fault take_fault(runtime::bad_index* index) override {
    refuse_in_capture("waiting for the device");
    if (!faulty_.load(std::memory_order_acquire)) return runtime::data_fault::none;
    const std::lock_guard lock(fault_mutex_);
    const runtime::data_fault found = runtime::read_fault(fault_.words, index);
    fault_ = {};
    faulty_ = false;
    return found;
  }

  std::string source(const launch& whole) override {
    const std::vector<launch> pieces = plain_parts_of(whole).all;
    const launch& l = pieces.empty() ? whole : pieces[0];
    std::vector<jit::cpu_definition> all;
    const std::string name = "sn_" + l.code->label();
    if (l.code->kind == jit::kernel_kind::staged) {
      const stage_steps steps(*l.code);
      const std::vector<launch> parts = step_launches(steps, l);
      for (std::size_t k = 0; k < steps.steps.size(); ++k) define(parts[k], name + "_step" + std::to_string(k), all);
    } else {
      define(l, name, all);
    }
    return "// " + tier_status() + "\n" + jit::emit_cpu(all);
  }

  jit::schedule schedule(const launch& l) override { return describe(l); }
  runtime::counters statistics() const override {
    runtime::counters c;
    c.launches = launches_ + repeated_launches();
    const auto compiled = jit::compile_statistics();
    c.compilations = compiled.host_compiled;
    c.disk_hits = compiled.host_from_disk;
    c.allocations = pool_.allocations();
    return c;
  }
  std::unique_ptr<runtime::timer> make_timer() override {
    refuse_in_capture("measuring time");
    return std::make_unique<wall_timer>();
  }

  runtime::algorithms& algorithms() override {
    if (recorder* r = recording()) return r->algorithms_by(algorithms_);
    return algorithms_;
  }
  runtime::products& products() override {
    if (recorder* r = recording()) return r->products_by(products_);
    return products_;
  }
  runtime::solvers& solvers() override {
    if (recorder* r = recording()) return r->solvers_by(solvers_);
    return solvers_;
  }
  runtime::fourier& fourier() override {
    refuse_in_capture("Fourier transforms on the CPU");
    return *fourier_;
  }
  runtime::sparse& sparse() override {
    refuse_in_capture("products of sparse arrays on the CPU");
    return sparse_;
  }

  runtime::stream& open_stream(const runtime::stream_options&) override { return take<cpu_stream>(free_streams_); }
  runtime::stream& wrap_stream(void*) override {
    throw device_error("[stream] there are no streams of others on the CPU");
  }
  void close_stream(runtime::stream& s) noexcept override { put_back(static_cast<cpu_stream&>(s), free_streams_); }
  std::unique_ptr<runtime::event> make_event(bool) override { return cpu::make_event(); }
  runtime::stream& begin_capture() override { return take<recorder>(free_recorders_); }
  std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream& s) override {
    std::unique_ptr<runtime::recorded_work> work;
    try {
      work = static_cast<recorder&>(s).finish();
    } catch (...) {
      abandon_capture(s);
      throw;
    }
    put_back(static_cast<recorder&>(s), free_recorders_);
    return work;
  }
  void abandon_capture(runtime::stream& s) noexcept override {
    static_cast<recorder&>(s).clear();
    put_back(static_cast<recorder&>(s), free_recorders_);
  }

  device_properties properties() override {
    device_properties f;
    f.name = processor_name();
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) f.total_memory = static_cast<std::size_t>(pages) * static_cast<std::size_t>(size);
    f.multiprocessors = runtime::thread_count();
    return f;
  }

 private:
  /// What is to be compiled before launches run, and what is compiled with it: code that the same evaluation runs gets hot
  /// at about the same time, and one start of the compiler is a stall, several are as many.
  struct compile_list {
    std::vector<compiled_code*> due, soon;
    std::span<compiled_code* const> all() {
      if (!due.empty()) due.insert(due.end(), soon.begin(), soon.end());
      return due;
    }
  };

  /// What the code of a launch consists of.
  static void define(const launch& l, const std::string& name, std::vector<jit::cpu_definition>& all) {
    const needs n = needs_of(l, may_skip(l), true);
    const auto add = [&](const compiled_code& c, const std::string& as) { all.push_back(c.definition(as)); };
    if (n.split_tail) {
      add(find_code(inner_program(*l.code), {false, n.elements}), name + "_inner");
      add(find_code(tail_program(*l.code), {false, 0}), name + "_tail");
    } else {
      add(find_code(*l.code, {false, n.elements, n.patterns}), name);
    }
    if (n.groups) add(find_code(group_program(*l.code), {false, group_inputs(*l.code, n.elements)}), name + "_groups");
    if (l.code->kind == jit::kernel_kind::reduce && has_epilogue(*l.code))
      add(find_code(*l.code, {true, n.results}), name + "_epilogue");
    for (const jit::user_reduction* r : l.code->combines) add(find_user_reducer(r), "sn_" + r->name);
  }

  /// The code of a launch, which will process so many elements; adds what is to be compiled for it.
  prepared& prepare_one(const launch& l, std::int64_t elements, compile_list& wanted, bool alone = false) {
    const bool skip = may_skip(l);
    prepared& p = table_.find(l, needs_of(l, skip, alone));
    count_work(p, l, elements, skip, wanted);
    for (const jit::user_reduction* r : l.code->combines)
      if (user_reducer& u = find_user_reducer(r); !u.is_compiled()) wanted.due.push_back(&u);
    return p;
  }

  /// Counts what the code of a launch is going to do, and adds what is to be compiled for it.
  static void count_work(const prepared& p, const launch& l, std::int64_t elements, bool skip, compile_list& wanted) {
    const auto want = [&](block_code* c, std::uint64_t lanes) {
      if (!c) return;
      if (c->wants_compilation(lanes)) wanted.due.push_back(c);
      else if (c->is_worth_adding()) wanted.soon.push_back(c);
    };
    want(skip ? p.inner : p.main, static_cast<std::uint64_t>(lanes_of_work(elements) * loop_count(l)));
    if (skip) want(p.tail, static_cast<std::uint64_t>(elements) / 8);
    want(p.groups, static_cast<std::uint64_t>(elements) / jit::addition_group);
    if (!p.epilogue || !has_epilogue(*l.code)) return;
    std::int64_t kept = 1;
    for (int a = 0; a < l.kept; ++a) kept *= l.extents[a];
    want(p.epilogue, static_cast<std::uint64_t>(kept));
  }

  /// Whether a launch has the same code whenever it recurs: it does not depend on scalars or addresses, and there is no
  /// more than that of one launch.
  static bool keeps_code(const launch& l) {
    const jit::program& p = *l.code;
    return p.kind != jit::kernel_kind::staged && p.combines.empty() && !jit::has_tail(p) && !has_gathers(p);
  }

  void run_parts(const prepared& p, const launch& l, int* fault) {
    const auto known = parts_.find(l);
    std::vector<launch> parts;
    if (known) parts = known->of(l);
    else if (!has_gathers(*l.code)) parts = plain_parts_of(l).all;
    const auto rows = parts.empty() ? row_reads_of(l) : std::nullopt;
    if (parts.empty() && !rows) {
      const element_work whole{&p, &l};
      return run_elements(std::span(&whole, 1), fault);
    }
    std::vector<element_work> works;
    std::optional<parts_aside> aside;
    if (known && known->others_aside) aside.emplace(std::span(parts).subspan(1));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const launch& part = parts[k];
      if (const auto copy = row_copy_of(part)) run_row_copy(*copy);
      else works.push_back({known ? known->code[k] : &table_.find(part, needs_of(part, false, true)), &part});
    }
    if (rows) works.push_back({&table_.find(rows->plain, needs_of(rows->plain, false)), &rows->plain, &rows->reads});
    if (!aside) std::reverse(works.begin(), works.end());  // the last one runs first
    run_elements(works, fault);
    if (aside) aside->store();
  }

  recorder* recording() const noexcept {
    runtime::stream& s = current_stream();
    return s.notes() ? &static_cast<recorder&>(s) : nullptr;
  }
  /// A stream without a handle, or a new one; streams live as long as the process.
  template <class S>
  S& take(std::vector<S*>& unused) {
    const std::lock_guard lock(stream_mutex_);
    if (unused.empty()) {
      unused.reserve(static_cast<std::size_t>(streams_) + 1);
      auto made = std::make_unique<S>(*this, streams_);
      ++streams_;
      return *made.release();
    }
    S& s = *unused.back();
    unused.pop_back();
    return s;
  }
  template <class S>
  void put_back(S& s, std::vector<S*>& unused) noexcept {
    const std::lock_guard lock(stream_mutex_);
    unused.push_back(&s);  // does not allocate: take() has made room
  }

  cpu_stream host_stream_{*this, 0};
  std::mutex stream_mutex_;
  int streams_ = 1;
  std::vector<cpu_stream*> free_streams_;
  std::vector<recorder*> free_recorders_;
  runtime::pool pool_;
  std::unique_ptr<runtime::pool> pinned_;
  cpu_algorithms algorithms_;
  cpu_products products_;
  cpu_solvers solvers_;
  std::unique_ptr<runtime::fourier> fourier_ = make_fourier();
  cpu_sparse sparse_;
  prepared_table table_;
  mutable parts_table parts_{table_};
  std::atomic<std::uint64_t> launches_{0};
  void keep_fault(const fault_record& f) {
    const std::lock_guard lock(fault_mutex_);
    if (!faulty_) fault_ = f;
    faulty_.store(true, std::memory_order_release);
  }
  std::mutex fault_mutex_;
  std::atomic<bool> faulty_{false};
  fault_record fault_;
};

}  // namespace

launch_observer set_launch_observer(launch_observer observer) noexcept { return current_observer.exchange(observer); }

std::uint64_t copied_bytes() noexcept { return copied.load(std::memory_order_relaxed); }

}  // namespace sinter::cpu

namespace sinter::runtime {

std::unique_ptr<backend> make_cpu_backend() { return std::make_unique<cpu::cpu_backend>(); }

}  // namespace sinter::runtime
