// Running captured steps on a GPU, which goes from one to the next by itself.
#include <algorithm>
#include <utility>

#include "ops/loops/traced_loop_state.hpp"

namespace sinter::inline v0::detail {

bool traced_loop::state::runs_on_gpu() const {
  // A while_loop may run some steps too many, which must not find what is wrong with data that no step has.
  const bool may_fail = work->finds_errors() || calls_others;
  return work->stepping() && (steps >= 0 || !may_fail);
}

/// One node copies everything, in any order: what lies where it writes, as where a step exchanges two arrays, is copied by
/// another node before.
runtime::step_sequence traced_loop::state::copies_of_gpu(const std::vector<runtime::step_copy>& given) {
  const auto is_place = [&](const value& v) {
    const auto is_here = [&](const value& place) { return place->buffer == v->buffer; };
    return std::any_of(carry.begin(), carry.end(), is_here) || std::any_of(arguments.begin(), arguments.end(), is_here);
  };
  runtime::step_sequence all;
  const auto outputs_now = outputs();
  for (std::size_t j = 0; j < given.size(); ++j) (is_place(outputs_now[j]) ? all.aside : all.moved).push_back(given[j]);
  const auto round_up = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };
  std::size_t bytes = 0;
  for (const value& v : work->results())
    if (is_place(v)) bytes += round_up(v->bytes());
  if (bytes != 0) aside_of_gpu = std::make_shared<runtime::buffer>(runtime::get_backend(*where), bytes);
  std::size_t at = 0;
  const auto from = [&](const value& v) -> const void* {
    if (!is_place(v)) return address_of(v);
    char* const copy = static_cast<char*>(aside_of_gpu->address()) + at;
    all.aside.push_back({copy, address_of(v), v->bytes()});
    at += round_up(v->bytes());
    return copy;
  };
  for (std::size_t j = 0; j < carry.size(); ++j)
    if (address_of(carry[j]) != address_of(next()[j]))
      all.moved.push_back({address_of(carry[j]), from(next()[j]), carry[j]->bytes()});
  if (steps < 0) all.again = from(outputs_now[0]);
  return all;
}

void traced_loop::state::run_on_gpu(const runtime::step_sequence& all, const std::vector<block_copy>& before) {
  runtime::backend& device = runtime::get_backend(*where);
  runtime::stepping_work& stepping = *work->stepping();
  room = std::make_shared<runtime::buffer>(device, stepping.room_for(all));
  {
    runtime::submission use(device);
    use_memory(use);
    for (const block_copy& c : before)
      if (c.bytes != 0) device.copy(c.to, c.from, c.bytes);
    stepping.launch_steps(all, room->address());
  }
  for (const value& v : carry) pass_faults(v);
  if (work->finds_errors() || calls_others) graph::report_captured_faults(device);  // waits
  else if (work->has_objects()) device.current_stream().synchronize();
}

void traced_loop::state::scan_on_gpu(std::int64_t count, const std::vector<block_copy>& taken,
                                     const std::vector<block_copy>& given, bool reverse,
                                     const std::vector<block_copy>& before) {
  const auto stride = [&](const block_copy& c) {
    const auto bytes = static_cast<std::int64_t>(c.bytes);
    return reverse ? -bytes : bytes;
  };
  std::vector<runtime::step_copy> outputs;
  for (const block_copy& c : given) outputs.push_back({c.to, c.from, c.bytes, stride(c), 0});
  runtime::step_sequence all = copies_of_gpu(outputs);
  all.steps = count;
  for (const block_copy& c : taken)  // the first step has its own
    all.taken.push_back({c.to, next_block(c.from, c.bytes, reverse), c.bytes, 0, stride(c)});
  run_on_gpu(all, before);
}

void traced_loop::state::count_on_gpu(std::int64_t count) {
  runtime::step_sequence all = copies_of_gpu({});
  all.steps = count;
  all.number = reinterpret_cast<std::int64_t*>(address_of(arguments[0]));
  run_on_gpu(all, {});
}

void traced_loop::state::repeat_on_gpu() {
  runtime::step_sequence all = copies_of_gpu({});
  all.steps = -1;
  run_on_gpu(all, {});
}

}  // namespace sinter::inline v0::detail
