// Translation units of tier 1: preludes, users' texts, block functions, the steps of users' reductions.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/cpu/fixed.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

const char* const block_types =
    "typedef void (*sn_block_op)(void*, const void*, const void*, const void*, int, int*);\n"
    "struct sn_block_args {\n"
    "  const void* const* inputs;\n  const long long* const* offsets;\n  const long long (*gather_strides)[2];\n"
    "  const void* const* params;\n  const long long* const* coords;\n  void* const* outputs;\n"
    "  const sn_block_op* operations;\n  int* fault;\n  int n;\n  int lanes;\n  int halves;\n  int rows;\n"
    "  const long long* row_steps;\n};\n"
    "template <class T> static inline T* sn_of_row(const sn_block_args* a, int row, int k, T* first) {\n"
    "  return row == 0 ? first : (T*)((const char*)first + row * a->row_steps[k]);\n}\n"
    "struct sn_random_source {\n  const long long* position;\n  unsigned long long key, base, subsequence;\n};\n"
    "#define SN_LANES(n) _Pragma(\"GCC ivdep\") for (int l = 0; l < (n); ++l)\n"
    "#define SN_ARRAY(T, name, n) alignas(64) T name[n]\n"
    // The greatest index that a loop found out of range. Unsigned numbers: compilers make vectors of their maximum.
    "struct sn_refused {\n  unsigned long long any, greatest;\n"
    "  long long index() const { return (long long)(greatest ^ 1ull << 63); }\n};\n"
    "static inline long long sn_index_of(long long i, long long n, sn_refused& bad) {\n"
    "  const unsigned long long k = i < 0 ? i + n : i, out = k >= (unsigned long long)(n) ? 1 : 0;\n"
    "  const unsigned long long refused = ((unsigned long long)(i) ^ 1ull << 63) & -out;\n"
    "  bad.any |= out;\n"
    "  bad.greatest = bad.greatest < refused ? refused : bad.greatest;\n"
    "  return k < (unsigned long long)(n) ? (long long)(k) : 0;\n}\n";

/// The steps of a reduction under the names that reducers use.
std::string reduction_text(const user_reduction& r, const std::string& name) {
  std::string lane = value_type(r.value, r.types, r.preamble);
  if (!r.value.opaque.empty()) lane = "sn::opaque<" + lane + ">";
  const std::string steps = "sn_steps_" + name;
  std::string out = "typedef sn::reduce_steps<" + monoid(r) + ", " + lane + "> " + steps + ";\n";
  auto define = [&](const char* step, const char* parameters, const std::string& body) {
    out += "extern \"C\" void " + name + "_" + step + parameters + " {" + body + "}\n";
  };
  define("reset", "(void* const* acc, int n)", " " + steps + "::reset(acc, n); ");
  define("row", "(void* const* acc, const void* x, int n, int first, int lanes)",
         " " + steps + "::row(acc, x, n, first, lanes); ");
  define("join_lanes", "(void* const* acc, int lanes, int length)", " " + steps + "::join_lanes(acc, lanes, length); ");
  define("columns",
         "(void* const* acc, const void* x, long long stride, int steps, int n, const sn::column_place& place)",
         " " + steps + "::columns(acc, x, stride, steps, n, place); ");
  define("close_columns", "(void* const* acc, int n, const sn::column_place& place)",
         " " + steps + "::close_columns(acc, n, place); ");
  define("close", "(void* const*, int, bool, int, long long)", "");
  define("join", "(void* const* a, void* const* b, int n)", " " + steps + "::join(a, b, n); ");
  define("finish", "(void* const* acc, void* to, int n)", " " + steps + "::finish(acc, to, n); ");
  return out;
}

}  // namespace

int register_bytes(const program& p, std::size_t reg) noexcept {
  return is_opaque_register(p, reg) ? opaque_bytes : lane_bytes(p.code[reg].type);
}

bool needs_compiler(const program& p, const block_variant& v) noexcept {
  const bool reduces = p.kind == kernel_kind::reduce;
  const std::size_t first = reduces && v.epilogue ? p.epilogue : 0;
  const std::size_t last = reduces && !v.epilogue ? p.epilogue : p.code.size();
  for (std::size_t k = first; k < last; ++k)
    if (p.code[k].op == opcode::user) return true;
  return false;
}

std::string emit_cpu(std::span<const cpu_definition> definitions) {
  // A user's reduction without a program is a program with a combine and no instructions.
  std::vector<program> monoids(definitions.size());
  std::vector<const program*> programs;
  std::string functions;
  unsigned mask = prelude_base;
  bool users = false, reduces = false, has_complex = false;
  for (std::size_t k = 0; k < definitions.size(); ++k) {
    const cpu_definition& d = definitions[k];
    if (d.monoid) monoids[k].combines.push_back(d.monoid);
    const program& p = d.monoid ? monoids[k] : *d.code;
    programs.push_back(&p);
    users = users || calls_users(p);
    reduces = reduces || d.monoid != nullptr;
    has_complex = has_complex || names_complex(p);
    if (d.monoid) {
      functions += reduction_text(*d.monoid, d.name);
      continue;
    }
    if (d.fixed) {
      mask |= d.fixed->parts();
      functions += d.fixed->text(d.name);
      continue;
    }
    cpu_emitter emitter(p, d.variant);
    mask |= emitter.parts();
    functions += emitter.text(d.name);
  }
  if (users) mask |= prelude_float | prelude_half;
  if (has_complex) mask |= prelude_user_complex;
  const user_text text = define_users(programs, cpu_function_words);
  const auto is_fixed = [](const cpu_definition& d) { return d.fixed != nullptr; };
  const bool any_fixed = std::any_of(definitions.begin(), definitions.end(), is_fixed);
  if (any_fixed) functions.insert(0, fixed_types);
  // Loops of a few lanes are short, of numbers that the text has, and worth being vectors whatever is left over.
  const bool all_fixed = std::all_of(definitions.begin(), definitions.end(), is_fixed);
  std::string source = (all_fixed ? "#pragma GCC optimize(\"O3\", \"fp-contract=off\")\n" : "") +
                       checked_mode_text(programs) + text.includes + prelude_source(mask);
  if (users) source.append(prelude_text("user_cpu")).append(prelude_text("user"));
  if (has_complex) source.append(prelude_text("user_complex"));
  if (reduces) source.append(prelude_text("cpu_reduce_user"));
  const auto calls = [&](const char* name) { return functions.find(name) != std::string::npos; };
  if (calls("sn::load_") || calls("sn::store_") || calls("sn::shift_bytes_")) source.append(prelude_text(pattern_part));
  const bool divides = functions.find("sn_divisor<") != std::string::npos;
  const bool halves = functions.find("sn_vector") != std::string::npos;
  return source + text.definitions + block_types + (divides ? quotient_text : "") +
         (calls("sn_whole_divisor<") ? whole_divisor_text : "") + (calls("sn_right_shift(") ? shift_text : "") +
         (halves ? half_vector_text : "") + functions;
}

}  // namespace sinter::jit
