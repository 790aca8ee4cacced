#include "ops/linalg/einsum_plan.hpp"

#include <algorithm>
#include <cstdio>

namespace sinter::ops {
namespace {

std::string in_form(const char* form, double number) {
  char text[48];
  std::snprintf(text, sizeof text, form, number);
  return text;
}

label_list all_labels(const term_list& terms) {
  label_list all;
  for (const label_list& in : terms) all = united(all, in);
  return all;
}

const char* kind_of(const label_roles& r) {
  if (r.inner.empty()) return "product, recorded";
  return r.is_matrix_product() ? "matrix product" : "sum of products, recorded";
}

class description {
 public:
  description(std::string_view subscripts, const einsum_terms& t, const term_list& given) : t_(t), left_(given) {
    const label_list all = all_labels(given);
    naive_ = size_of(all, t) * static_cast<double>(std::max<std::size_t>(given.size(), 1));
    scaling_ = all.size();
    for (const char c : subscripts)
      if (c != ' ') title_ += c;
  }

  std::string run(const contraction_path& path) {
    for (std::size_t k = 0; k < left_.size(); ++k) sum_first(k);
    for (const std::vector<int>& step : path) contract(step);
    std::string out = "  Complete contraction:  " + title_ + "\n";
    out += "         Naive scaling:  " + std::to_string(scaling_) + "\n";
    out += "     Optimized scaling:  " + std::to_string(widest_) + "\n";
    out += "      Naive FLOP count:  " + in_form("%.3e", naive_) + "\n";
    out += "  Optimized FLOP count:  " + in_form("%.3e", flops_) + "\n";
    out += "   Theoretical speedup:  " + in_form("%.3f", flops_ > 0 ? naive_ / flops_ : 1) + "\n";
    out += "  Largest intermediate:  " + in_form("%.3e", largest_) + " elements\n";
    return out + lines_;
  }

 private:
  std::string remaining() const {
    std::string out;
    for (const label_list& in : left_) out += (out.empty() ? "" : ",") + text_of(in);
    return out + "->" + text_of(t_.output);
  }
  void line(const std::string& what, const char* how, const label_list& over, double flops, const label_list& after) {
    widest_ = std::max(widest_, over.size());
    flops_ += flops;
    largest_ = std::max(largest_, size_of(after, t_));
    char text[256];
    std::snprintf(text, sizeof text, "  %zu  %-26s %-28s %s\n", over.size(), how, what.c_str(), remaining().c_str());
    lines_ += text;
  }
  void sum_first(std::size_t k) {
    const label_list summed = summed_first(left_, k, t_.output), before = left_[k];
    if (summed.empty()) return;
    left_[k] = without(before, summed);
    line(text_of(before) + "->" + text_of(left_[k]), "sum, recorded", before, size_of(before, t_), left_[k]);
  }
  void sum_at_once(const term_list& taken) {
    const label_list over = taken[term_with_all_labels(taken)];
    label_list needed = t_.output, after;
    for (const label_list& o : left_) needed = united(needed, o);
    for (const label l : over)
      if (holds(needed, l)) after.push_back(l);
    std::string what;
    for (const label_list& in : taken) what += (what.empty() ? "" : ",") + text_of(in);
    left_.push_back(after);
    const bool sums = after.size() < over.size();
    line(what + "->" + text_of(after), sums ? "sum of products, recorded" : "product, recorded", over,
         size_of(over, t_) * (static_cast<double>(taken.size()) - (sums ? 0 : 1)), after);
  }
  void contract(std::vector<int> step) {
    const term_list taken = take_out(left_, std::move(step));
    if (one_sum_suffices(taken)) return sum_at_once(taken);
    label_list product = taken[0];
    for (std::size_t k = 1; k < taken.size(); ++k) {
      term_list others = left_;
      others.insert(others.end(), taken.begin() + static_cast<std::ptrdiff_t>(k) + 1, taken.end());
      const label_list after = labels_after(product, taken[k], others, t_.output), over = united(product, taken[k]);
      const label_roles r = roles_of(product, taken[k], after);
      const std::string what = text_of(product) + "," + text_of(taken[k]) + "->" + text_of(after);
      product = after;
      if (k + 1 == taken.size()) left_.push_back(product);
      line(what, kind_of(r), over, size_of(over, t_) * (r.inner.empty() ? 1 : 2), after);
    }
    if (taken.size() == 1) left_.push_back(product);
  }

  const einsum_terms& t_;
  term_list left_;
  std::string title_, lines_;
  double naive_ = 0, flops_ = 0, largest_ = 0;
  std::size_t scaling_ = 0, widest_ = 0;
};

}  // namespace

label_roles roles_of(const label_list& a, const label_list& b, const label_list& after) {
  label_roles r;
  for (const label l : a) (!holds(b, l) ? r.rows : holds(after, l) ? r.batch : r.inner).push_back(l);
  for (const label l : b)
    if (!holds(a, l)) r.columns.push_back(l);
  return r;
}

label_list summed_first(const term_list& terms, std::size_t which, const label_list& output) {
  label_list out;
  for (const label l : terms[which]) {
    bool needed = holds(output, l);
    for (std::size_t k = 0; k < terms.size() && !needed; ++k) needed = k != which && holds(terms[k], l);
    if (!needed) out.push_back(l);
  }
  return out;
}

std::string describe_einsum(std::string_view subscripts, const einsum_terms& t, const term_list& given,
                            const contraction_path& path) {
  return description(subscripts, t, given).run(path);
}

}  // namespace sinter::ops
