// Programs that compute several places of an axis.
#include "jit/program/rewrite/apart.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace sinter::jit {
namespace {

/// Copies the instructions of one place; those that follow from what does not vary are copied for the first one.
class place_writer {
 public:
  place_writer(const program& from, std::uint64_t varying, int places, program& to)
      : from_(from),
        varying_(varying),
        places_(places),
        to_(to),
        register_of_(from.code.size()),
        varies_(from.code.size()) {
    first_input_.reserve(from.inputs.size());
    for (std::size_t k = 0; k < from.inputs.size(); ++k) {
      first_input_.push_back(static_cast<std::uint16_t>(to.inputs.size()));
      to.inputs.insert(to.inputs.end(), is_varying(k) ? static_cast<std::size_t>(places) : 1, from.inputs[k]);
    }
    to.outputs.resize(from.outputs.size() * static_cast<std::size_t>(places));
  }

  void write(int place) {
    for (std::size_t k = 0; k < from_.code.size(); ++k) {
      instr i = from_.code[k];
      varies_[k] = i.op == opcode::load && is_varying(i.a);
      from_.each_operand(i, [&](std::uint16_t r) { varies_[k] = varies_[k] || varies_[r]; });
      if (place > 0 && !varies_[k]) continue;
      if (i.op == opcode::load) i.a = static_cast<std::uint16_t>(first_input_[i.a] + (varies_[k] ? place : 0));
      std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
      for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = register_of_[*operands[n]];
      register_of_[k] = static_cast<std::uint16_t>(to_.code.size());
      to_.code.push_back(i);
    }
    for (std::size_t k = 0; k < from_.outputs.size(); ++k) {
      output_desc& o = to_.outputs[k * static_cast<std::size_t>(places_) + static_cast<std::size_t>(place)];
      o = from_.outputs[k];
      o.reg = register_of_[o.reg];
    }
  }

 private:
  bool is_varying(std::size_t input) const { return varying_ >> input & 1; }

  const program& from_;
  const std::uint64_t varying_;
  const int places_;
  program& to_;
  std::vector<std::uint16_t> register_of_, first_input_;
  std::vector<char> varies_;
};

/// `varying`: a bit for each input that has other elements at each place. Never destroyed.
const program& program_of_places(const program& p, std::uint64_t varying, int places) {
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<std::string, std::unique_ptr<program>>;
  std::string key(reinterpret_cast<const char*>(&varying), sizeof varying);
  key += static_cast<char>(places);
  p.append_key(key);
  const std::lock_guard lock(mutex);
  std::unique_ptr<program>& made = table[key];
  if (!made) {
    auto out = std::make_unique<program>(p);
    out->code.clear();
    out->inputs.clear();
    out->outputs.clear();
    place_writer writer(p, varying, places, *out);
    for (int c = 0; c < places; ++c) writer.write(c);
    out->epilogue = static_cast<std::uint16_t>(out->code.size());
    made = std::move(out);
  }
  return *made;
}

void drop_axis(core::dims& of, int axis) {
  for (int j = axis; j + 1 < of.size(); ++j) of[j] = of[j + 1];
  of.resize(of.size() - 1);
}

}  // namespace

void take_apart(const launch& l, int axis, launch& to) {
  const int places = static_cast<int>(l.extents[axis]);
  std::uint64_t varying = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (l.inputs[k].strides[axis] != 0) varying |= std::uint64_t{1} << k;
  to = l;
  to.code = &program_of_places(*l.code, varying, places);
  to.inputs.clear();
  to.outputs.clear();
  const auto add = [&](std::vector<operand>& list, const operand& from, int count) {
    for (int c = 0; c < count; ++c) {
      operand o = from;
      o.offset += c * from.strides[axis];
      drop_axis(o.strides, axis);
      list.push_back(o);
    }
  };
  for (std::size_t k = 0; k < l.inputs.size(); ++k) add(to.inputs, l.inputs[k], varying >> k & 1 ? places : 1);
  for (const operand& o : l.outputs) add(to.outputs, o, places);
  drop_axis(to.extents, axis);
  to.kept = to.extents.size();
}

}  // namespace sinter::jit
