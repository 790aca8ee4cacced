// Evaluation of golden cases in batches.
#include "golden/batch.hpp"

#include <doctest/doctest.h>

#include "graph/run/array.hpp"
#include "ops/base/access.hpp"

namespace sinter::test {

void evaluate_all(const std::vector<ndarray>& arrays) {
  std::vector<graph::view_ref> views;
  for (const auto& a : arrays) views.push_back(ops::ndarray_access::ref(a));
  graph::evaluate(views);
}

void batch::add(std::string what, recorder record, checker check) {
  item next{std::move(what), std::move(record), std::move(check), {}};
  try {
    next.result = next.record();
  } catch (const error& e) {
    FAIL_CHECK(next.what << " throws " << e.what());
    return;
  }
  items_.push_back(std::move(next));
  if (items_.size() >= size_) finish();
}

void batch::one_by_one(item& i) {
  try {
    i.check(download(i.record()));
  } catch (const error& e) {
    FAIL_CHECK(i.what << " throws " << e.what());
  }
}

void batch::finish() {
  std::vector<item> items;
  items.swap(items_);
  if (items.empty()) return;
  bool together = true;
  std::vector<host_array> results;
  try {
    std::vector<ndarray> arrays;
    for (auto& i : items) arrays.push_back(i.result);
    evaluate_all(arrays);
    for (auto& a : arrays) results.push_back(download(a));
  } catch (const error&) {
    together = false;  // which case it was shows when each runs alone
  }
  for (std::size_t k = 0; k < items.size(); ++k) {
    items[k].result = ndarray();
    if (together) items[k].check(results[k]);
    else one_by_one(items[k]);
  }
}

}  // namespace sinter::test
