#include "backends/cpu/moved_places.hpp"

#include <algorithm>

#include "backends/cpu/constant_steps.hpp"
#include "backends/cpu/kernels/kernels.hpp"

namespace sinter::cpu {
namespace {

using memory = runtime::unchanged_memory;

bool is_within(const memory& part, const memory& whole) noexcept {
  const auto *p = static_cast<const char*>(part.begin), *w = static_cast<const char*>(whole.begin);
  return w <= p && p + part.bytes <= w + whole.bytes;
}

}  // namespace

/// Everything that the step does in the memory must be known, and be within it: a block of the capture may have held something
/// larger before.
bool moved_places::add_launch(recorded_step& s, const memory& captured, access how, moved& to) {
  const auto is_there = [&](const jit::operand& o) { return o.base == captured.begin; };
  jit::launch& l = s.how;
  const step_memory does = memory_of(s);
  if (does.knows_writes && core::element_count(l.extents) == 0) return true;  // it does nothing
  const auto touches = [&](const std::vector<memory>& all) {
    return std::any_of(all.begin(), all.end(), [&](const memory& m) { return overlap(m, captured); });
  };
  if (std::none_of(l.inputs.begin(), l.inputs.end(), is_there) &&
      std::none_of(l.outputs.begin(), l.outputs.end(), is_there))
    return !touches(does.reads) && !touches(does.writes);
  if (!does.knows_writes) return false;
  const std::size_t outputs = l.outputs.size();
  for (std::size_t k = 0; k < does.writes.size(); ++k)
    if (overlap(does.writes[k], captured) &&
        (how == access::reads || k >= outputs || !is_within(does.writes[k], captured)))
      return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (is_there(l.inputs[k]) && s.code.inputs[k].gathers == 0 && !is_within(does.reads[k], captured)) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (is_there(l.inputs[k]))
      to.operands.push_back(
          {&l.inputs[k], l.inputs[k].offset, static_cast<std::int64_t>(itemsize(s.code.inputs[k].type))});
  for (std::size_t k = 0; k < outputs; ++k)
    if (is_there(l.outputs[k])) {
      to.operands.push_back(
          {&l.outputs[k], l.outputs[k].offset, static_cast<std::int64_t>(itemsize(s.code.outputs[k].type))});
      to.is_written = true;
    }
  to.steps.push_back(&s);
  return true;
}

bool moved_places::add_copy(recorded_step& s, const memory& captured, access how, moved& to) {
  const memory read{s.from, s.bytes}, written{s.to, s.bytes};
  const auto* const begin = static_cast<const char*>(captured.begin);
  if (overlap(read, captured)) {
    if (!is_within(read, captured)) return false;
    to.copies.push_back({&s.from, nullptr, static_cast<const char*>(s.from) - begin});
  }
  if (overlap(written, captured)) {
    if (how == access::reads || !is_within(written, captured)) return false;
    to.copies.push_back({nullptr, &s.to, static_cast<const char*>(s.to) - begin});
    to.is_written = true;
  }
  return true;
}

bool moved_places::add(const recorded_steps& steps, const memory& captured, access how) {
  moved m{static_cast<const char*>(captured.begin), {}, {}, {}, false};
  for (const auto& step : steps) {
    recorded_step& s = *step;
    if (s.prepared) {
      if (!add_launch(s, captured, how, m)) return false;
    } else if (s.call) {
      const step_memory& does = s.of_call;
      if (!does.knows_reads || !does.knows_writes) return false;
      for (const auto* const all : {&does.reads, &does.writes})
        for (const memory& part : *all)
          if (overlap(part, captured)) return false;
    } else if (s.bytes != 0 && !add_copy(s, captured, how, m)) {
      return false;
    }
  }
  if (how == access::writes && !m.is_written) return false;  // what is there is not the work's
  for (recorded_step* const s : m.steps) s->moves = true;
  all_.push_back(std::move(m));
  return true;
}

void moved_places::move(const void* captured, void* base, std::ptrdiff_t offset) {
  const auto m = std::find_if(all_.begin(), all_.end(), [&](const moved& x) { return x.captured == captured; });
  if (m == all_.end()) return;
  for (const operand_place& p : m->operands) {
    p.operand->base = base;
    p.operand->offset = p.offset + offset / p.size;
  }
  char* const there = static_cast<char*>(base) + offset;
  for (const copy_place& c : m->copies) {
    if (c.from) *c.from = there + c.offset;
    else *c.to = there + c.offset;
  }
}

}  // namespace sinter::cpu
