// Einsum: operands are reduced to arrays with distinct labels, which are combined by recorded sums, products and matrix
// products.
#include "sinter/einsum.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "ops/base/axes.hpp"
#include "ops/linalg/contract.hpp"
#include "ops/linalg/einsum_plan.hpp"
#include "ops/linalg/product_calls.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// An array whose axes have distinct labels and extents other than 1.
struct labelled {
  ndarray array;
  label_list labels;

  int axis(label l) const { return static_cast<int>(std::find(labels.begin(), labels.end(), l) - labels.begin()); }
};

/// The diagonal along repeated labels; axes of extent 1 are dropped, since they broadcast. A view.
labelled with_distinct_labels(const ndarray& x, const label_list& labels) {
  const graph::array_view& v = view_of(x, "einsum");
  dims shape, strides;
  labelled out;
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const int axis = static_cast<int>(a);
    if (v.shape[axis] == 1) continue;
    if (holds(out.labels, labels[a])) {
      strides[out.axis(labels[a])] += v.strides[axis];
      continue;
    }
    out.labels.push_back(labels[a]);
    shape.push_back(v.shape[axis]);
    strides.push_back(v.strides[axis]);
  }
  out.array = view_as(x, shape, strides, v.offset);
  return out;
}

/// A view with the axes of `order`; extent 1 where the array does not have the label.
ndarray arranged(const labelled& x, const label_list& order) {
  const graph::array_view& v = view_of(x.array, "einsum");
  dims shape, strides;
  for (const label l : order) {
    const bool there = holds(x.labels, l);
    shape.push_back(there ? v.shape[x.axis(l)] : 1);
    strides.push_back(there ? v.strides[x.axis(l)] : 0);
  }
  return view_as(x.array, shape, strides, v.offset);
}

/// The labels by decreasing stride, so that the last one is contiguous.
label_list memory_order(const labelled& x) {
  const graph::array_view& v = view_of(x.array, "einsum");
  label_list order = x.labels;
  std::stable_sort(order.begin(), order.end(),
                   [&](label a, label b) { return std::abs(v.strides[x.axis(a)]) > std::abs(v.strides[x.axis(b)]); });
  return order;
}

label_list only(const label_list& order, const label_list& some) {
  label_list out;
  for (const label l : order)
    if (holds(some, l)) out.push_back(l);
  return out;
}

std::vector<int> places_of(const label_list& some, const label_list& order) {
  std::vector<int> out;
  for (const label l : some) out.push_back(static_cast<int>(std::find(order.begin(), order.end(), l) - order.begin()));
  return out;
}

class evaluation {
 public:
  evaluation(const einsum_terms& t, dtype type, const einsum_kw& kw) : t_(t), type_(type), kw_(kw) {}

  labelled run(std::vector<labelled> left, const contraction_path& path) {
    sum_first(left);
    for (std::vector<int> step : path) {
      std::vector<labelled> taken = take_out(left, std::move(step));
      if (one_sum_suffices(labels_of(taken))) {
        left.push_back(summed_at_once(taken, labels_of(left)));
        continue;
      }
      labelled product = std::move(taken[0]);
      for (std::size_t k = 1; k < taken.size(); ++k) {
        std::vector<labelled> others = left;
        others.insert(others.end(), taken.begin() + static_cast<std::ptrdiff_t>(k) + 1, taken.end());
        product = contracted(product, taken[k], others);
      }
      left.push_back(std::move(product));
    }
    return std::move(left[0]);
  }

 private:
  static term_list labels_of(const std::vector<labelled>& all) {
    term_list out;
    for (const labelled& x : all) out.push_back(x.labels);
    return out;
  }

  /// The sum of the products of all of them, in the memory order of the one that has all labels.
  labelled summed_at_once(const std::vector<labelled>& all, const term_list& others) const {
    const std::size_t whole = term_with_all_labels(labels_of(all));
    const label_list order = memory_order(all[whole]);
    value v = arranged_value(all[whole], order);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (k != whole) v = product_of_values(v, arranged_value(all[k], order), type_);
    label_list needed = t_.output;
    for (const label_list& o : others) needed = united(needed, o);
    const label_list summed = without(order, needed);
    return {wrap(summed.empty() ? v : sum_over(v, places_of(summed, order))), without(order, summed)};
  }

  void sum_first(std::vector<labelled>& all) const {
    term_list terms = labels_of(all);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const label_list summed = summed_first(terms, k, t_.output);
      if (summed.empty()) continue;
      const label_list order = memory_order(all[k]);
      const value v = graph::record_cast(value_of(arranged(all[k], order), "einsum"), type_);
      all[k] = {wrap(sum_over(v, places_of(summed, order))), without(order, summed)};
      terms[k] = all[k].labels;
    }
  }

  labelled contracted(const labelled& a, const labelled& b, const std::vector<labelled>& others) const {
    const label_list after = labels_after(a.labels, b.labels, labels_of(others), t_.output);
    const label_roles r = roles_of(a.labels, b.labels, after);
    if (r.is_matrix_product()) return matrix_product(a, b, r, others);
    if (r.inner.empty()) {
      const label_list wanted = only(t_.output, after);
      const label_list order = wanted.size() == after.size() ? wanted : united(memory_order(a), memory_order(b));
      return {wrap(product_of_values(arranged_value(a, order), arranged_value(b, order), type_)), order};
    }
    // One operand has all labels; the sum runs in its memory order.
    const label_list order = memory_order(r.columns.empty() ? a : b);
    return {wrap(sum_of_products(arranged_value(a, order), arranged_value(b, order), type_, places_of(r.inner, order))),
            without(order, r.inner)};
  }

  value arranged_value(const labelled& x, const label_list& order) const {
    return value_of(arranged(x, order), "einsum");
  }

  /// Swaps the factors if that makes the last label of the output, or of what the product is multiplied by element by element, the last
  /// one of the product.
  labelled matrix_product(const labelled& a, const labelled& b, const label_roles& r,
                          const std::vector<labelled>& others) const {
    const label_list both = united(r.rows, r.columns);
    label_list free = only(t_.output, both);
    for (const labelled& x : others)
      if (only(x.labels, both).size() == both.size()) free = only(memory_order(x), both);
    if (!free.empty() && holds(r.rows, free.back()))
      return matrix_product_in_order(b, a, {r.batch, r.inner, r.columns, r.rows});
    return matrix_product_in_order(a, b, r);
  }

  labelled matrix_product_in_order(const labelled& a, const labelled& b, const label_roles& r) const {
    const contraction c{places_of(r.batch, a.labels), places_of(r.batch, b.labels), places_of(r.inner, a.labels),
                        places_of(r.inner, b.labels)};
    labelled out;
    out.labels = r.batch;
    for (const label_list* free : {&r.rows, &r.columns})
      out.labels.insert(out.labels.end(), free->begin(), free->end());
    product_kw kw{.tf32 = kw_.tf32};
    out.array = contract("einsum", a.array, b.array, c, type_, kw);
    return out;
  }

  const einsum_terms& t_;
  dtype type_;
  const einsum_kw& kw_;
};

/// The einsum after parsing and choice of the path, before any computation.
struct prepared_einsum {
  einsum_terms terms;
  std::vector<labelled> operands;
  term_list labels;  // of the operands
  contraction_path path;
  dtype type{};
};

prepared_einsum prepare(std::string_view subscripts, const std::vector<ndarray>& operands, const einsum_kw& kw) {
  if (operands.empty()) throw value_error("[einsum] must provide at least an operand");
  std::vector<operand> list(operands.begin(), operands.end());
  std::vector<const operand*> all;
  std::vector<dims> shapes;
  prepared_einsum p;
  p.type = kw.dtype ? *kw.dtype : promoted_dtype(operands, "einsum");
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const graph::array_view& v = view_of(operands[k], "einsum");
    all.push_back(&list[k]);
    shapes.push_back(v.shape);
    if (!can_cast(v.type, p.type, casting::same_kind))
      fail<dtype_error>("einsum", "cannot cast operand ", k, " from ", v.type, " to ", p.type,
                        " (casting rule same_kind)");
  }
  common_device(all, "einsum");
  p.terms = parse_einsum(subscripts, shapes);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    p.operands.push_back(with_distinct_labels(operands[k], p.terms.inputs[k]));
    p.labels.push_back(p.operands.back().labels);
  }
  term_list reduced = p.labels;
  for (std::size_t k = 0; k < reduced.size(); ++k)
    reduced[k] = without(reduced[k], summed_first(reduced, k, p.terms.output));
  p.path = order_of(reduced, p.terms, kw);
  return p;
}

dims output_shape(const einsum_terms& t) {
  dims shape;
  for (const label l : t.output) shape.push_back(t.extent(l));
  return shape;
}

}  // namespace

ndarray einsum(std::string_view subscripts, const std::vector<ndarray>& operands, const einsum_kw& kw) {
  const prepared_einsum p = prepare(subscripts, operands, kw);
  const product_kw to{.out = kw.out};
  check_out(to, output_shape(p.terms), p.type, "einsum");
  // Several sums or products are computed in float32 for 16-bit floats and rounded once at the end.
  const bool one_product = p.operands.size() == 2 && summed_first(p.labels, 0, p.terms.output).empty() &&
                           summed_first(p.labels, 1, p.terms.output).empty();
  const bool narrow = p.type == dtype::f16 || p.type == dtype::bf16;
  const dtype work = narrow && !one_product && p.operands.size() > 1 ? dtype::f32 : p.type;
  const labelled result = evaluation(p.terms, work, kw).run(p.operands, p.path);
  const ndarray out = arranged(result, p.terms.output);
  return delivered(out.astype(p.type, /*copy=*/false), to, "einsum");
}

einsum_plan einsum_path(std::string_view subscripts, const std::vector<ndarray>& operands, const einsum_kw& kw) {
  const prepared_einsum p = prepare(subscripts, operands, kw);
  return {p.path, describe_einsum(subscripts, p.terms, p.labels, p.path)};
}

std::ostream& operator<<(std::ostream& out, const einsum_plan& p) { return out << p.text; }

}  // namespace sinter::inline v0
