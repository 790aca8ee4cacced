// Elementwise CUDA kernels: vectors over a linear index, or rows of a strided iteration space.
#include "jit/cuda/emit_map.hpp"

#include <algorithm>

#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

class map_emitter : map_writer {
 public:
  map_emitter(const program& p, const cuda_variant& v) : map_writer(p, v), unroll_(cuda_unroll(p, v)) {}

  std::string run() {
    open();
    if (v_.shape == cuda_shape::linear) linear_body();
    else strided_body();
    t_("}");
    return t_.str() + close_kernel();
  }

 private:
  // Vectors: full blocks move `unroll` vectors per thread, the last block (baseline tier: every block) single elements.
  void linear_body() {
    const int chunk = cuda_block * vec_ * unroll_;
    uniform_values("  ");
    t_("  const long long start = (long long)blockIdx.x * ", chunk, ";");
    if (!v_.baseline) full_block(chunk);
    t_("  const long long end = start + ", chunk, " < a.n ? start + ", chunk, " : a.n;");
    t_("#pragma unroll 1");
    t_("  for (long long at = start + threadIdx.x; at < end; at += ", cuda_block, ") {");
    one_element(
        "    ", [&](int) { return std::string(element_.place ? "sn::random_place{at, 0}" : "at"); },
        [&](int k) { return "a.p" + num(k) + (input_class(k) == access::uniform ? "" : " + at"); },
        [&](int k) { return "a.w" + num(k) + "[at]"; });
    t_("  }");
  }

  using text_of = std::function<std::string(int)>;

  /// One element by the version of the phase that is valid for every value: coordinate of an axis, address of an input,
  /// place of an output.
  void one_element(const std::string& in, const text_of& coordinate, const text_of& address, const text_of& place) {
    t_(call_once(
        element_,
        [&](char kind, int k) -> argument {
          if (kind == 'c') return {coordinate(k), ""};
          if (plain_uniform(k)) return {"u" + num(k), ""};
          return {is_gathered(p_, k) ? address(k) : widened(type(k), "*(" + address(k) + ")"), ""};
        },
        in));
    for (std::size_t k = 0; k < p_.outputs.size(); ++k)
      t_(in, place(static_cast<int>(k)), " = ", narrowed(p_.outputs[k].type, "out.r" + num(p_.outputs[k].reg)), ";");
  }

  void full_block(int chunk) {
    t_("  if (start + ", chunk, " <= a.n", same_upper_half(chunk), ") {");
    t_("    const long long first = start + (int)threadIdx.x * ", vec_, ";");
    for (int k : element_.inputs)
      if (input_class(k) == access::linear && !is_gathered(p_, k)) {
        t_("    sn::pack<", storage_type(type(k)), ", ", vec_, "> i", k, "[", unroll_, "];");
        t_("#pragma unroll");
        t_("    for (int u = 0; u < ", unroll_, "; ++u) i", k, "[u] = sn::fetch<", vec_, ">(a.p", k, " + first + u * ",
           cuda_block * vec_, ");");
      }
    t_("#pragma unroll");
    t_("    for (int u = 0; u < ", unroll_, "; ++u) {");
    t_("      const long long at = first + u * ", cuda_block * vec_, ";");
    // `at` is a multiple of the number of lanes.
    const std::string place = "sn::random_place{first, u * " + num(cuda_block * vec_) + " | l}";
    lanes("      ", "u", [&](int) { return element_.place ? place : std::string("at | l"); });
    stores("      ", [&](int k) { return "a.w" + num(k) + " + at"; });
    t_("    }");
    t_("    return;");
    t_("  }");
  }

  /// The condition under which random_place is valid.
  std::string same_upper_half(int chunk) const {
    std::string all;
    for (const instr& i : p_.code)
      if (element_.place && shares_blocks(i))
        all += std::string(" && sn::share_upper_half<") + register_type(i.type) + ">(" + random_stream(i) +
               ", start, " + num(chunk) + ")";
    return all;
  }

  // Rows: c<inner> runs over threadIdx.x; a thread processes `unroll` rows, blockDim.y apart (rank 1: elements of its
  // row).
  void strided_body() {
    const bool flat = v_.rank == 1;
    const std::string row = flat ? "" : num(v_.rank - 2);
    uniform_values("  ");
    t_("  const I across = (I)(blockIdx.x * ", flat ? "(I)" : "(I)", "blockDim.x", flat ? " * " + num(unroll_) : "",
       " + threadIdx.x) * ", vec_, ";");
    if (flat) {
      t_("  const I step = (I)blockDim.x * ", vec_, ";");
      rows("  ");
      return;
    }
    if (!v_.baseline) t_("  const I c", inner_, " = across;");
    t_("  if (across >= a.e", inner_, ".n) return;");
    t_("  const I step = (I)blockDim.y;");
    if (v_.rank > 2) {
      t_("  for (long long z = blockIdx.z; z < a.outer; z += gridDim.z) {");
      t_("  const I zi = (I)z;");
      t_(decompose("zi", 0, v_.rank - 2, "c", "  "));
    }
    t_("  for (I down = (I)(blockIdx.y * (I)blockDim.y * ", unroll_, " + threadIdx.y); down < a.e", row,
       ".n; down += (I)gridDim.y * step * ", unroll_, ") {");
    rows("    ");
    t_("  }");
    if (v_.rank > 2) t_("  }");
  }

  void rows(const std::string& in) {
    if (v_.baseline) rows_one_by_one(in);
    else block_of_rows(in);
  }

  void rows_one_by_one(const std::string& in) {
    const bool flat = v_.rank == 1;
    const int moving = flat ? 0 : v_.rank - 2;
    t_("#pragma unroll 1");
    t_(in, "for (int u = 0; u < ", unroll_, "; ++u) {");
    t_(in, "  const I ", flat ? "begin" : "c" + num(moving), " = ", flat ? "across" : "down", " + u * step;");
    t_(in, "  if (", flat ? "begin" : "c" + num(moving), " >= a.e", moving, ".n) break;");
    t_("#pragma unroll 1");
    t_(in, "  for (int l = 0; l < ", vec_, "; ++l) {");
    t_(in, "    const I c", inner_, " = ", flat ? "begin" : "across", " + l;");
    one_element(
        in + "    ",
        [&](int j) {
          return j <= inner_ ? "c" + num(j) : row_number() + " * a.e" + num(inner_) + ".n + c" + num(inner_);
        },
        [&](int k) {
          const std::string at = " + (" + offset("s", k, 0, v_.rank, "c") + ")";
          return "a.p" + num(k) + (input_class(k) == access::uniform ? "" : at);
        },
        [&](int k) { return "a.w" + num(k) + "[" + offset("t", k, 0, v_.rank, "c") + "]"; });
    t_(in, "  }");
    t_(in, "}");
  }

  void block_of_rows(const std::string& in) {
    const bool flat = v_.rank == 1;
    const std::string c = "c" + num(flat ? 0 : v_.rank - 2), extent = "a.e" + c.substr(1) + ".n";
    groups(in, unroll_, {"const I " + c + " = " + (flat ? "across" : "down") + " + u * step;", c + " < " + extent});
  }

  int unroll_;
};

}  // namespace

map_writer::map_writer(const program& p, const cuda_variant& v)
    : p_(p),
      v_(v),
      vec_(v.vector),
      inner_(v.rank - 1),
      element_(make_phase(p, v, "element", instructions(0, p.code.size()), registers_of(p.outputs))) {}

void map_writer::open() {
  t_(open_kernel(p_, v_));
  t_(define(p_, element_));
  t_.add(kernel_head(p_, v_));
}

void map_writer::uniform_values(const std::string& in) {
  for (int k : element_.inputs)
    if (plain_uniform(k))
      t_(in, "const ", register_type(type(k)), " u", k, " = ", widened(type(k), "*a.p" + num(k)), ";");
}

void map_writer::lanes(const std::string& in, const std::string& u, const std::function<std::string(int)>& coordinate) {
  const bool linear = v_.shape == cuda_shape::linear;
  for (int k : element_.inputs) {
    if (plain_uniform(k)) continue;
    if (is_gathered(p_, k)) {
      t_(in, "const ", storage_type(type(k)), "* z", k, "[", vec_, "];");
      t_("#pragma unroll");
      std::string step = input_class(k) == access::uniform ? ""
                         : linear                          ? " + at + l"
                                                           : " + l * a.s" + num(k) + "_" + num(inner_);
      t_(in, "for (int l = 0; l < ", vec_, "; ++l) z", k, "[l] = ", linear ? "a.p" : "g", k, linear ? "" : "[u]", step,
         ";");
    } else {
      t_.add(lane_values(p_, k, vec_, "i" + num(k) + "[" + u + "].v[l]", in));
    }
  }
  for (int j : element_.coords) {
    t_(in, element_.place ? "sn::random_place k" : "long long k", j, "[", vec_, "];");
    t_("#pragma unroll");
    t_(in, "for (int l = 0; l < ", vec_, "; ++l) k", j, "[l] = ", coordinate(j), ";");
  }
  t_(call_group(
      p_, element_, vec_,
      [&](char kind, int k) -> argument {
        if (kind == 'c') return {"k" + num(k), element_.place ? "sn::random_place" : "long long"};
        if (plain_uniform(k)) return {"u" + num(k), ""};
        std::string type_name =
            is_gathered(p_, k) ? std::string("const ") + storage_type(type(k)) + "*" : register_type(type(k));
        return {"z" + num(k), type_name};
      },
      in));
}

void map_writer::stores(const std::string& in, const std::function<std::string(int)>& address) {
  for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
    const char* s = storage_type(p_.outputs[k].type);
    const int out = static_cast<int>(k);
    const std::string value = narrowed(p_.outputs[k].type, "x" + num(p_.outputs[k].reg) + "[l]");
    if (v_.outputs[k] == access::strided && vec_ > 1) {
      t_("#pragma unroll");
      t_(in, "for (int l = 0; l < ", vec_, "; ++l) (", address(out), ")[l * a.t", out, "_", inner_, "] = ", value, ";");
      continue;
    }
    if (vec_ == 1) {
      t_(in, "*(", address(out), ") = ", narrowed(p_.outputs[k].type, "x" + num(p_.outputs[k].reg) + "[0]"), ";");
      continue;
    }
    t_(in, "{");
    t_(in, "  sn::pack<", s, ", ", vec_, "> y;");
    t_("#pragma unroll");
    t_(in, "  for (int l = 0; l < ", vec_, "; ++l) y.v[l] = ", value, ";");
    t_(in, "  sn::put(", address(out), ", y);");
    t_(in, "}");
  }
}

// Of lane l, as `first | l`: known low bits let lanes share what they compute from blocks of random numbers.
std::string map_writer::coordinate(int j) const {
  const std::string first = "c" + num(inner_);
  if (j == inner_) return first + " | l";
  if (j < inner_) return "c" + num(j);
  return "(" + row_number() + " * (a.e" + num(inner_) + ".n / " + num(vec_) + ") * " + num(vec_) + " + " + first +
         ") | l";
}

std::string map_writer::row_number() const {
  std::string row = "(long long)c0";
  for (int k = 1; k < inner_; ++k) row = "(" + row + " * a.e" + num(k) + ".n + c" + num(k) + ")";
  return row;
}

void map_writer::load(const std::string& in, int k, const std::function<std::string(int)>& tile_row) {
  const std::string group = "i" + num(k) + "[u]";
  const std::string at = "a.p" + num(k) + " + (" + offset("s", k, 0, v_.rank, "c") + ")";
  if (is_gathered(p_, k)) {
    t_(in, "g", k, "[u] = ", input_class(k) == access::uniform ? "a.p" + num(k) : at, ";");
  } else if (is_staged(k)) {
    t_(in, group, " = sn::fetch<", vec_, ">(", tile_row(k), ");");
  } else if (vec_ == 1) {
    t_(in, group, ".v[0] = *(", at, ");");
  } else if (input_class(k) == access::linear) {
    t_(in, group, " = sn::fetch<", vec_, ">(", at, ");");
  } else {
    t_("#pragma unroll");
    t_(in, "for (int l = 0; l < ", vec_, "; ++l) ", group, ".v[l] = (", at, ")[l * a.s", k, "_", inner_, "];");
  }
}

void map_writer::groups(const std::string& in, int count, const group_place& at,
                        const std::function<std::string(int)>& tile_row) {
  const std::string each = "for (int u = 0; u < " + num(count) + "; ++u) {";
  for (int k : element_.inputs) {
    if (plain_uniform(k)) continue;
    if (is_gathered(p_, k)) t_(in, "const ", storage_type(type(k)), "* g", k, "[", count, "];");
    else t_(in, "sn::pack<", storage_type(type(k)), ", ", vec_, "> i", k, "[", count, "];");
  }
  const auto open_group = [&] {
    t_("#pragma unroll");
    t_(in, each);
    t_(in, "  ", at.coordinates);
    t_(in, "  if (", at.inside, ") {");
  };
  const auto close_group = [&] {
    t_(in, "  }");
    t_(in, "}");
  };
  open_group();
  for (int k : element_.inputs)
    if (!plain_uniform(k)) load(in + "    ", k, tile_row);
  close_group();
  open_group();
  lanes(in + "    ", "u", [&](int j) { return coordinate(j); });
  stores(in + "    ", [&](int k) { return "a.w" + num(k) + " + (" + offset("t", k, 0, v_.rank, "c") + ")"; });
  close_group();
}

std::string emit_map(const program& p, const cuda_variant& v) { return map_emitter(p, v).run(); }

}  // namespace sinter::jit::cuda
