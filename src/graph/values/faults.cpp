// Errors in data: which faults memory has, and what is thrown when its elements are read.
#include "graph/values/faults.hpp"

#include "graph/values/storage.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

using runtime::data_fault;

/// A kernel's name may be missing.
[[noreturn]] void throw_error(data_fault kind, const runtime::bad_index& bad, const std::string& kernel) {
  const std::string by = kernel.empty() ? "" : " (found by " + kernel + ")";
  switch (kind) {
    case data_fault::none:
    case data_fault::index_out_of_range: break;
    case data_fault::user_index: throw index_error(jit::describe(bad.access) + by);
    case data_fault::negative_integer_power:
      throw value_error("[power] integers to negative integer powers are not allowed" + by);
    case data_fault::random_parameter:
      throw value_error("[random] an element of an array of parameters is outside of what the distribution allows" +
                        by);
  }
  throw index_error("[index] index " + std::to_string(bad.value) + " is out of range for axis " +
                    std::to_string(bad.axis) + " with extent " + std::to_string(bad.extent) + by);
}

/// Throws the first fault that still counts. The launches have been waited for.
void report(const runtime::fault_list& found, const runtime::buffer& memory) {
  runtime::fault_ref first;
  for (const runtime::fault_ref& f : found) {
    f->resolve();
    runtime::bad_index bad;
    const data_fault kind = f->read(&bad);
    const bool stays = kind != data_fault::none && !bad.of_statement;
    if (!stays) memory.drop_fault(f);
    if (kind == data_fault::none) continue;
    const bool told = f->reported.exchange(true);
    if (!first && (stays || !told)) first = f;
  }
  if (first) throw_fault(*first);
}

}  // namespace

void throw_fault(const runtime::fault& f) {
  runtime::bad_index bad;
  const data_fault kind = f.read(&bad);
  throw_error(kind, bad, f.kernel);
}

void report_captured_faults(runtime::backend& device, const std::string& kernel) {
  runtime::bad_index bad;
  const data_fault kind = device.take_fault(&bad);
  if (kind != data_fault::none) throw_error(kind, bad, kernel);
}

void report_faults(runtime::backend& device) {
  report_captured_faults(device);
  if (const runtime::fault_ref f = device.faults().take_unreported()) throw_fault(*f);
}

void refuse_wrong_data(const runtime::buffer& memory, const runtime::fault_list& known) {
  if (!known.empty()) report(known, memory);
}

void check_data(const value& leaf) {
  if (!leaf->buffer->has_faults()) return;
  const runtime::fault_list known = leaf->buffer->faults();
  {
    // Ordered after everything that has written there.
    runtime::submission work(leaf->buffer->owner());
    work.reads(*leaf->buffer);
  }
  report_captured_faults(leaf->buffer->owner());
  refuse_wrong_data(*leaf->buffer, known);
}

void report_statement(const storage& s) {
  const value now = s.now();
  if (!now->is_leaf() || !now->buffer->has_faults() || !now->buffer->owner().host_addressable()) return;
  runtime::fault_list found = now->buffer->faults();
  std::erase_if(found, [](const runtime::fault_ref& f) {
    runtime::bad_index bad;
    return f->read(&bad) == data_fault::none || !bad.of_statement;
  });
  report(found, *now->buffer);
}

void inherit_faults(const runtime::buffer& to, const runtime::buffer& from) {
  if (from.has_faults()) to.add_faults(from.faults());
}

void inherit_faults(const value& to, std::initializer_list<const value*> from) {
  for (const value* v : from)
    if (*v && (*v)->is_leaf()) inherit_faults(*to->buffer, *(*v)->buffer);
}

}  // namespace sinter::graph
