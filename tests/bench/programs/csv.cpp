#include "programs.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace bench::programs {

outputs csv(const inputs& in) {
  const ndarray &key = in["key"], &value = in["value"], &w = in["w"];
  const std::string d = "/tmp/sinter-csv-" + std::to_string(::getpid());
  std::filesystem::create_directory(d);
  sn::savetxt(d + "/t.csv", sn::column_stack({key, value, w}),
              {.fmt = {"%d", "%.4f", "%d"}, .delimiter = ",", .header = "key,value,w"});
  ndarray t = sn::loadtxt(d + "/t.csv", {.delimiter = ","});
  auto [ks, index, inv, cnt] = sn::unique(t(_, 0).astype(sn::int64), {.return_inverse = true, .return_counts = true});
  ndarray total = sn::bincount(inv, {.weights = t(_, 1) * t(_, 2)}),
          mean = total / sn::bincount(inv, {.weights = t(_, 2)});
  ndarray best = sn::full({ks.len()}, -INFINITY);
  sn::scatter_max(best, inv, t(_, 1));
  ndarray order = sn::lexsort({t(_, 1), t(_, 0)}), sorted = t[order];
  ndarray first = sorted[sn::concatenate({sn::array({0}), sn::flatnonzero(sn::diff(sorted(_, 0))) + 1})];
  sn::savetxt(d + "/o.csv", sn::stack({ks.astype(sn::float64), mean, best}, 1), {.fmt = "%.6g", .delimiter = ";"});
  ndarray back = sn::loadtxt(d + "/o.csv", {.delimiter = ";", .usecols = {0, 2}});
  std::ofstream(d + "/h.csv") << "a,b\n1,\n2,3.5\n,4\n";
  ndarray h = sn::genfromtxt(d + "/h.csv", {.delimiter = ",", .skip_header = 1});
  std::stringstream text;
  text << std::ifstream(d + "/o.csv").rdbuf();
  const std::string all = text.str();
  std::filesystem::remove_all(d);
  return {{"t", t},       {"ks", ks},     {"cnt", cnt},
          {"mean", mean}, {"best", best}, {"first", first},
          {"back", back}, {"h", h},       {"text", sn::array(std::vector<std::uint8_t>(all.begin(), all.end()))}};
}

}  // namespace bench::programs
