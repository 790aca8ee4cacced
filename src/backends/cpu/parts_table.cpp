// Which launches have the same parts: those of one program, of the same extents, strides and integers, whose operands lie over each
// other in the same way.
#include "backends/cpu/parts_table.hpp"

#include <optional>
#include <utility>

#include "backends/cpu/copies/row_copy.hpp"
#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/kernels/segments.hpp"
#include "platform/per_thread.hpp"

namespace sinter::cpu {
namespace {

using jit::launch;
using jit::operand;

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append(std::string& key, const core::dims& d) {
  key.push_back(static_cast<char>(d.size()));
  key.append(reinterpret_cast<const char*>(d.data()), static_cast<std::size_t>(d.size()) * sizeof(std::int64_t));
}

void append_geometry(std::string& key, const launch& l) {
  append(key, l.extents);
  append(key, l.kept);
  append(key, l.reduces_last);
  append(key, l.split_lanes);
  append(key, l.all_results);
  for (const auto* some : {&l.inputs, &l.outputs})
    for (const operand& o : *some) append(key, o.strides), append(key, o.gather_stride);
  for (std::size_t k = 0; k < l.params.size(); ++k)
    if (l.code->param_types[k] == dtype::i64) append(key, l.params[k].i);
  // Which operands lie in one piece of memory, and how far apart.
  const std::size_t inputs = l.inputs.size(), all = inputs + l.outputs.size();
  const auto at = [&](std::size_t k) -> const operand& { return k < inputs ? l.inputs[k] : l.outputs[k - inputs]; };
  for (std::size_t k = 1; k < all; ++k)
    for (std::size_t first = 0; first < k; ++first) {
      if (!at(k).base || at(first).base != at(k).base) continue;
      append(key, static_cast<std::uint16_t>(k));
      append(key, static_cast<std::uint16_t>(first));
      append(key, at(k).offset - at(first).offset);
      break;
    }
}

/// With offsets from where each operand begins.
void make_relative(launch& part, const launch& whole) {
  for (std::size_t k = 0; k < part.inputs.size(); ++k)
    part.inputs[k].base = nullptr, part.inputs[k].offset -= whole.inputs[k].offset;
  for (std::size_t k = 0; k < part.outputs.size(); ++k)
    part.outputs[k].base = nullptr, part.outputs[k].offset -= whole.outputs[k].offset;
  part.params.clear();
  part.memo = nullptr;
  part.fault = nullptr;
}

}  // namespace

std::vector<launch> launch_parts::of(const launch& l) const {
  std::vector<launch> now(parts);
  for (launch& part : now) {
    for (std::size_t k = 0; k < part.inputs.size(); ++k)
      part.inputs[k].base = l.inputs[k].base, part.inputs[k].offset += l.inputs[k].offset;
    for (std::size_t k = 0; k < part.outputs.size(); ++k)
      part.outputs[k].base = l.outputs[k].base, part.outputs[k].offset += l.outputs[k].offset;
    part.params = l.params;
    part.fault = l.fault;
  }
  return now;
}

std::shared_ptr<const launch_parts> parts_table::made_for(const launch& l) {
  auto made = std::make_shared<launch_parts>();
  if (l.code->kind == jit::kernel_kind::elementwise) {
    plain_parts plain = plain_parts_of(l);
    made->parts = std::move(plain.all);
    made->others_aside = plain.others_aside;
  } else if (auto plain = without_wrapped_gathers(l)) {
    made->parts.push_back(std::move(*plain));
  }
  if (made->parts.empty()) return nullptr;
  const bool alone = l.code->kind == jit::kernel_kind::elementwise;
  for (launch& part : made->parts) {
    made->code.push_back(&code_.find(part, needs_of(part, false, alone)));
    made->elements.push_back(copies_rows(part) ? 0 : core::element_count(part.extents));
    make_relative(part, l);
  }
  return made;
}

std::shared_ptr<const launch_parts> parts_table::find(const launch& l) {
  constexpr std::size_t most = 512;
  if (!has_gathers(*l.code) || l.code->kind == jit::kernel_kind::staged) return nullptr;
  std::string& key = platform::per_thread<std::string, parts_table>::get();
  key.clear();
  l.code->append_key(key);
  append_geometry(key, l);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = entries_.find(key); known != entries_.end()) return known->second;
  }
  std::shared_ptr<const launch_parts> made = made_for(l);
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= most) entries_.clear();  // which launches in progress hold remain theirs
  return entries_.insert_or_assign(key, std::move(made)).first->second;
}

}  // namespace sinter::cpu
