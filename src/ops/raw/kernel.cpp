// Hand-written kernels: looked up in their module, launched on arrays.
#include <memory_resource>
#include <unordered_map>

#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/access.hpp"
#include "ops/raw/check.hpp"
#include "ops/raw/state.hpp"
#include "platform/files.hpp"
#include "sinter/profile.hpp"

namespace sinter::ops {
namespace {

using detail::argument_kind;
using detail::kernel_argument;
using graph::array_view;
using graph::value;

std::unique_ptr<const bound_kernel> bind(const std::shared_ptr<runtime::raw_module>& module,
                                         const runtime::module_source& from, const std::string& name) {
  auto kernel = std::make_unique<bound_kernel>();
  const std::string lowered = lowered_kernel(*module, name);
  kernel->function = module->get_function(lowered, name);
  if (!kernel->function) fail<value_error>(name, "the module has no kernel of this name");
  kernel->parameter_bytes = kernel->function->parameter_bytes();
  kernel->signature = signature_of_demangled(demangle(lowered));
  if (!kernel->signature && !from.image) kernel->signature = signature_in_source(from.text, lowered);
  // The compiler's count is right where a macro has misled the parser of the source.
  if (kernel->signature && kernel->parameter_bytes &&
      kernel->signature->parameters.size() != kernel->parameter_bytes->size())
    kernel->signature.reset();
  return kernel;
}

/// How a kernel accesses an array.
enum class access {
  read,   // the array's current value, regardless of writes by the launch
  share,  // the storage's own elements, read only
  write,  // the storage's own elements
};

struct array_use {
  const array_view* view;
  std::size_t argument;
  access how;
  graph::exposed source;    // read and share
  void* address = nullptr;  // write
};

access access_of(const bound_kernel& kernel, const kernel_argument& a, std::size_t k, const array_view& v,
                 const std::string& who) {
  if (a.readonly) return access::read;
  const bool strided = a.kind == argument_kind::strided;
  // A pointer to const means sn::in, except that memory which other arguments of the same launch write is shared.
  if (kernel.signature && kernel.signature->parameters[k].readonly)
    return strided || graph::in_c_order(v) ? access::share : access::read;
  check_writable(v, strided, k, who);
  return access::write;
}

/// One launch: evaluates the arrays together, makes written arrays the sole owners of their elements (copy-on-write),
/// and packs the parameters for the driver: the address of each parameter's value.
class call {
 public:
  call(const bound_kernel& kernel, kernel_arguments arguments, const std::string& who)
      : kernel_(kernel), arguments_(arguments), who_(who), uses_(&memory_), packed_(arguments.size() + 1, &memory_) {}

  void run(const runtime::raw_launch& how) {
    collect();
    const graph::write_locks mine(written_storages());
    evaluate();
    for (std::size_t k = 0, u = 0; k < arguments_.size(); ++k)
      packed_[k] =
          u < uses_.size() && uses_[u].argument == k ? pack(uses_[u++]) : const_cast<void*>(arguments_[k].value);
    kernel_.function->launch(how, packed_.data());
    for (const array_use& to : uses_)
      for (const array_use& from : uses_)
        if (to.how == access::write && from.how != access::write)
          graph::inherit_faults(to.view->store->held(), {&from.source.held});
  }

 private:
  void collect() {
    uses_.reserve(arguments_.size());
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
      const kernel_argument& a = arguments_[k];
      if (!is_array(a)) continue;
      const array_view& v = view_of(array_of(a), who_.c_str());
      uses_.push_back({&v, k, access_of(kernel_, a, k, v, who_), {}});
    }
    for (array_use& u : uses_)
      if (u.how == access::read) u.source = source_of(u);
  }

  bool is_written(const graph::storage& s) const {
    for (const array_use& u : uses_)
      if (u.how == access::write && u.view->store.get() == &s) return true;
    return false;
  }

  std::vector<graph::storage*> written_storages() const {
    std::vector<graph::storage*> all;
    for (const array_use& u : uses_)
      if (u.how == access::write) all.push_back(u.view->store.get());
    return all;
  }

  graph::exposed source_of(const array_use& u) const {
    const array_view& v = *u.view;
    // A pinned storage is written in place, so an argument that reads its current value needs a copy.
    if (v.store->pinned() && is_written(*v.store)) return {graph::read(v), core::contiguous_strides(v.shape), 0};
    return graph::begin_read(v, arguments_[u.argument].kind == argument_kind::strided);
  }

  void evaluate() {
    std::pmr::vector<value> pending(&memory_);
    for (array_use& u : uses_) {
      if (u.how == access::share)
        u.source = {u.view->store->now(), u.view->strides, u.view->offset,
                    static_cast<std::int64_t>(itemsize(u.view->type))};
      value v = u.how == access::write ? graph::pending_of_write(*u.view) : u.source.held;
      if (v && !v->is_leaf()) pending.push_back(std::move(v));
    }
    if (!pending.empty()) graph::flush(pending);
    pending.clear();  // written storages must be the only owners of their elements
    const auto is_shared_too = [&](const array_use& u) { return u.how == access::share && is_written(*u.view->store); };
    for (array_use& u : uses_)
      if (is_shared_too(u)) u.source.held = value();
    for (array_use& u : uses_)
      if (u.how == access::write) u.address = graph::begin_write(*u.view);
    for (array_use& u : uses_)
      if (is_shared_too(u)) u.source.held = u.view->store->now();
  }

  /// The address of the parameter's value, which is a pointer or a sinter::strided.
  void* pack(const array_use& u) {
    const array_view& v = *u.view;
    const void* address = u.how == access::write ? u.address : graph::address_of(u.source);
    if (arguments_[u.argument].kind != argument_kind::strided) {
      check_alignment(u, address);
      auto* slot = static_cast<const void**>(memory_.allocate(sizeof address, alignof(void*)));
      *slot = address;
      return slot;
    }
    const int rank = v.shape.size(), room = std::max(rank, 1);
    auto* fields = static_cast<std::int64_t*>(
        memory_.allocate(sizeof(std::int64_t) * static_cast<std::size_t>(1 + 2 * room), alignof(std::int64_t)));
    const core::dims& strides = u.how == access::read ? u.source.strides : v.strides;
    fields[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(address));
    std::copy(v.shape.begin(), v.shape.end(), fields + 1);
    std::copy(strides.begin(), strides.end(), fields + 1 + room);
    return fields;
  }

  /// A float4* must be aligned for four floats.
  void check_alignment(const array_use& u, const void* address) const {
    if (!kernel_.signature) return;
    const raw_parameter& p = kernel_.signature->parameters[u.argument];
    if (reinterpret_cast<std::uintptr_t>(address) % p.element.alignment == 0) return;
    fail<value_error>(who_, "argument ", u.argument + 1, " begins at an address that ", p.text,
                      " cannot point to: it must be aligned to ", p.element.alignment, " bytes");
  }

  const bound_kernel& kernel_;
  kernel_arguments arguments_;
  const std::string& who_;
  std::byte room_[3072];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::vector<array_use> uses_;
  std::pmr::vector<void*> packed_;
};

/// The device of the arrays, which must be a GPU; the default device if there are none.
runtime::device_id device_of(kernel_arguments arguments, const std::string& who) {
  const array_view* first = nullptr;
  std::size_t first_at = 0;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const kernel_argument& a = arguments[k];
    if (!is_array(a)) continue;
    const array_view& v = view_of(array_of(a), who.c_str());
    if (first && !(first->device() == v.device()))
      fail<device_error>(who, "argument ", first_at + 1, " is on ", first->device(), ", argument ", k + 1, " on ",
                         v.device(), "; move one with to_device");
    if (first) continue;
    first = &v;
    first_at = k;
  }
  if (!first) return raw_device({}, who);
  if (first->device().kind != runtime::device_kind::cuda)
    require_gpu(first->device(), who, "argument " + std::to_string(first_at + 1) + " is on ");
  return first->device();
}

/// Kernels created from the same source share one module, which is never unloaded: creating a kernel again in every
/// call of a function costs a lookup only.
std::shared_ptr<raw_source> shared_source(runtime::module_source from) {
  struct table {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<raw_source>> sources;
  };
  static table& known = *new table;
  std::string key;
  for (const auto* list : {&from.options, &from.names}) {
    key += std::to_string(list->size()) + "/";
    for (const std::string& s : *list) platform::append_field(key, s);
  }
  key += from.fast_math ? "f" : "-";
  key += from.text;
  const std::lock_guard lock(known.mutex);
  auto& slot = known.sources[key];
  if (!slot) slot = std::make_shared<raw_source>(std::move(from));
  return slot;
}

}  // namespace

const bound_kernel& raw_entry::on(runtime::device_id device) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(device.index);
  if (bound_.size() <= index) bound_.resize(index + 1);
  if (!bound_[index]) bound_[index] = ops::bind(source->on(device, name), source->from, name);
  return *bound_[index];
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace {

ops::raw_entry& defined_entry(const std::shared_ptr<ops::raw_entry>& entry) {
  return ops::defined(entry, "raw_kernel", "the kernel");
}

}  // namespace

raw_kernel::raw_kernel(std::string_view source, std::string_view name, const raw_kw& kw) {
  runtime::module_source from = ops::source_of(source, kw);
  if (!from.image && name.find('<') != std::string_view::npos) from.names.emplace_back(name);
  entry_ = std::make_shared<ops::raw_entry>(ops::shared_source(std::move(from)), name);
}

void raw_kernel::start(const launch& how, const detail::kernel_argument* arguments, std::size_t count) const {
  ops::raw_entry& k = defined_entry(entry_);
  const ops::kernel_arguments list(arguments, count);
  const ops::bound_kernel& kernel = k.on(ops::device_of(list, k.name));
  ops::check_arguments(kernel, list, k.name);
  const runtime::raw_launch l = ops::checked_launch(kernel.function->figures(), how, k.name);
  if (l.grid.x == 0 || l.grid.y == 0 || l.grid.z == 0) return;
  ops::call c(kernel, list, k.name);
  if (profiling()) [[unlikely]] {
    const range named(k.name);
    return c.run(l);
  }
  c.run(l);
}

kernel_attributes raw_kernel::attributes(const std::optional<device>& on) const {
  ops::raw_entry& k = defined_entry(entry_);
  const runtime::function_figures& f = k.on(ops::raw_device(on, k.name)).function->figures();
  return {f.registers,      f.max_threads, f.shared_bytes,   f.max_dynamic_shared,
          f.constant_bytes, f.local_bytes, f.binary_version, f.ptx_version};
}

int raw_kernel::occupancy(const dims& block, std::size_t shared_mem, const std::optional<device>& on) const {
  ops::raw_entry& k = defined_entry(entry_);
  runtime::raw_function& f = *k.on(ops::raw_device(on, k.name)).function;
  const runtime::function_figures& limits = f.figures();
  if (block.x < 1 || block.y < 1 || block.z < 1)
    ops::fail<value_error>(k.name, "[occupancy] a block has at least one thread");
  const bool fits = block.x <= limits.max_block.x && block.y <= limits.max_block.y && block.z <= limits.max_block.z &&
                    block.x * block.y * block.z <= limits.max_threads && shared_mem <= limits.max_dynamic_shared;
  return fits ? f.occupancy({block.x, block.y, block.z}, shared_mem) : 0;
}

std::string raw_kernel::name() const { return defined_entry(entry_).name; }

}  // namespace sinter::inline v0
