// Factorisations and solutions of stacks of matrices.
#include <algorithm>
#include <string_view>

#include "core/shape.hpp"
#include "dist/calls/opaque_parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// Of each operand how many axes are a matrix's or a vector's. Right sides, the last operand, are solved column by column.
struct stack_function {
  std::string_view name;
  std::vector<int> core;
  bool solves = false;
};

const stack_function* find_function(std::string_view name) {
  static const auto& all = *new std::vector<stack_function>{{"cholesky", {2}},
                                                            {"qr", {2}},
                                                            {"lu", {2}},
                                                            {"lu_factor", {2}},
                                                            {"slogdet", {2}},
                                                            {"det", {2}},
                                                            {"inverses", {2}},
                                                            {"svd", {2}},
                                                            {"eigh", {2}},
                                                            {"eig", {2}},
                                                            {"solve", {2, 2}, true},
                                                            {"lu_solve", {2, 1, 2}, true},
                                                            {"solve_triangular", {2, 2}, true}};
  const auto found = std::find_if(all.begin(), all.end(), [&](const stack_function& f) { return f.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// The loop over stacks; nothing where shapes do not fit, which the function says itself.
std::optional<loop_axes> loop_of(const opaque_call& call, const stack_function& f) {
  loop_axes loop;
  std::vector<int> core = f.core;
  const auto shape_of = [&](std::size_t k) { return ops::view_of(call.operands[k], call.name).shape; };
  const std::size_t last = call.operands.size() - 1;
  const bool columns = f.solves && shape_of(last).size() > 1;
  if (f.solves && !columns) core.back() = 1;
  for (std::size_t k = 0; k <= last; ++k) {
    const dims shape = shape_of(k);
    if (shape.size() < core[k] || !core::broadcast_into(loop.extents, dims(shape.data(), shape.size() - core[k])))
      return {};
  }
  const int stack = loop.extents.size();
  for (std::size_t k = 0; k <= last; ++k) {
    const int rank = shape_of(k).size(), lead = rank - core[k];
    std::vector<int> axes(static_cast<std::size_t>(rank), -1);
    for (int a = 0; a < lead; ++a) axes[static_cast<std::size_t>(a)] = stack - lead + a;
    if (columns && k == last) axes.back() = stack;
    loop.operands.push_back(std::move(axes));
  }
  if (columns) loop.extents.push_back(shape_of(last)[shape_of(last).size() - 1]);
  loop.result = [stack, columns](std::size_t, int rank) {
    std::vector<int> axes(static_cast<std::size_t>(rank), -1);
    for (int a = 0; a < stack; ++a) axes[static_cast<std::size_t>(a)] = a;
    if (columns) axes.back() = stack;
    return axes;
  };
  loop.why =
      std::string("each device needs whole matrices of more than 1 MB") + (stack > 0 ? "" : ", of which there is one");
  loop.remedy = stack > 0 ? "redistribute it along an axis of the stack, or with {replicate()}"
                          : "redistribute it with {replicate()}, where every device does all of the work, or gather it";
  return loop;
}

/// The error of the function itself for these shapes.
void call_without_elements(const opaque_call& call) {
  std::vector<ndarray> shapes;
  for (const ndarray& x : call.operands) {
    const operand_parts p = parts_of(x);
    const device here = ops::to_public(p.m->devices[static_cast<std::size_t>(p.m->first_local())]);
    shapes.push_back(broadcast_to(zeros({}, {.dtype = x.dtype(), .device = here}), x.shape()));
  }
  call.again(shapes);
}

}  // namespace

std::optional<results> run_stacks(const opaque_call& call) {
  const stack_function* const f = find_function(call.name);
  if (!f) return {};
  if (const auto loop = loop_of(call, *f)) return run_loop(call, *loop);
  call_without_elements(call);
  return {};
}

}  // namespace sinter::sharding
