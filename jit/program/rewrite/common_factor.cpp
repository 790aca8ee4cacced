// Factors of sums of rows and columns.
#include "jit/program/rewrite/common_factor.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::jit {
namespace {

/// What the registers before the epilogue depend on, and how often they are read.
struct facts {
  std::vector<char> rows, columns;
  std::vector<int> reads;
};
facts facts_of(const program& p, std::uint64_t rows) {
  facts f{std::vector<char>(p.code.size()), std::vector<char>(p.code.size()), std::vector<int>(p.code.size())};
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const instr& i = p.code[k];
    if (i.op == opcode::load) (i.a < 64 && (rows >> i.a & 1) ? f.rows : f.columns)[k] = 1;
    else if (operand_count(i.op) == 0 && i.op != opcode::param) f.rows[k] = f.columns[k] = 1;
    p.each_operand(i, [&](std::uint16_t r) {
      f.rows[k] |= f.rows[r];
      f.columns[k] |= f.columns[r];
      ++f.reads[r];
    });
  }
  for (const reduce_desc& r : p.reductions) {
    ++f.reads[r.reg];
    if (r.tail) ++f.reads[r.inner];
  }
  for (const output_desc& o : p.outputs) ++f.reads[o.reg];
  return f;
}

bool is_float(const instr& i) { return i.type == dtype::f32 && i.arg == dtype::f32; }

/// The sum that a product distributes over, and the scalar.
struct distributed {
  std::uint16_t sum, factor;
};
std::optional<distributed> distributes(const program& p, const facts& f, const instr& product) {
  if (product.op != opcode::multiply || !is_float(product)) return {};
  const bool first = p.code[product.a].op == opcode::param;
  const distributed d = first ? distributed{product.b, product.a} : distributed{product.a, product.b};
  if (p.code[d.factor].op != opcode::param) return {};
  const instr& sum = p.code[d.sum];
  if ((sum.op != opcode::add && sum.op != opcode::subtract) || !is_float(sum) || f.reads[d.sum] != 1) return {};
  const auto depends = [&](std::uint16_t r) { return f.rows[r] + 2 * f.columns[r]; };
  const int a = depends(sum.a), b = depends(sum.b);
  return (a == 1 && b == 2) || (a == 2 && b == 1) ? std::optional(d) : std::nullopt;
}

/// Without the sums, which nothing else reads.
program rewritten(const program& p, const std::vector<std::optional<distributed>>& products) {
  program out = p;
  out.code.clear();
  std::vector<char> gone(p.code.size());
  for (const auto& d : products)
    if (d) gone[d->sum] = 1;
  std::vector<std::uint16_t> place(p.code.size());
  const auto emit = [&](const instr& i) {
    out.code.push_back(i);
    return static_cast<std::uint16_t>(out.code.size() - 1);
  };
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    if (k == p.epilogue) out.epilogue = static_cast<std::uint16_t>(out.code.size());
    if (gone[k]) continue;
    instr i = p.code[k];
    if (const auto& d = products[k]) {
      instr part = i;
      part.b = place[d->factor];
      i = p.code[d->sum];
      for (std::uint16_t* const operand : {&i.a, &i.b}) {
        part.a = place[*operand];
        *operand = emit(part);
      }
    } else {
      std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
      for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = place[*operands[n]];
    }
    place[k] = emit(i);
  }
  if (p.epilogue == p.code.size()) out.epilogue = static_cast<std::uint16_t>(out.code.size());
  for (input_desc& in : out.inputs)
    for (int g = 0; g < in.gathers; ++g) in.gather[g] = place[in.gather[g]];
  for (output_desc& o : out.outputs) o.reg = place[o.reg];
  for (reduce_desc& r : out.reductions) r.reg = place[r.reg], r.inner = r.tail ? place[r.inner] : r.inner;
  return out;
}

std::optional<program> distribute(const program& p, std::uint64_t rows) {
  const facts f = facts_of(p, rows);
  std::vector<std::optional<distributed>> products(p.code.size());
  bool any = false;
  for (std::size_t k = 0; k < p.epilogue; ++k) {
    products[k] = distributes(p, f, p.code[k]);
    any = any || products[k];
  }
  return any ? std::optional(rewritten(p, products)) : std::nullopt;
}

}  // namespace

const program& without_common_factors(const program& p, std::uint64_t rows) {
  if (!p.flags.fast_math || p.kind != kernel_kind::reduce || p.loop.end != 0 || !p.calls.empty()) return p;
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<std::string, std::optional<program>>;
  std::string key(reinterpret_cast<const char*>(&rows), sizeof rows);
  p.append_key(key);
  const std::lock_guard lock(mutex);
  auto at = table.find(key);
  if (at == table.end()) at = table.emplace(std::move(key), distribute(p, rows)).first;
  return at->second ? *at->second : p;
}

}  // namespace sinter::jit
