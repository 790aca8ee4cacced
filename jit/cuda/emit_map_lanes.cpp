// Groups of lanes of the elementwise CUDA kernels.
#include <algorithm>

#include "jit/cuda/emit_map.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {

map_writer::map_writer(const program& p, const cuda_variant& v)
    : p_(p),
      v_(v),
      vec_(v.vector),
      inner_(v.rank - 1),
      element_(make_phase(p, v, "element", instructions(0, p.code.size()), registers_of(p.outputs))) {}

void map_writer::open() {
  t_(open_kernel(p_, v_));
  t_(define(p_, element_));
  t_("extern \"C\" __global__ void __launch_bounds__(", cuda_block, ") ", cuda_kernel_name(p_, v_),
     "(const __grid_constant__ args a) {");
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
    const std::string array = "z" + num(k) + "[" + num(vec_) + "];";
    if (is_gathered(p_, k)) {
      t_(in, "const ", storage_type(type(k)), "* ", array);
      t_("#pragma unroll");
      std::string step = input_class(k) == access::uniform ? ""
                         : linear                          ? " + at + l"
                                                           : " + l * a.s" + num(k) + "_" + num(inner_);
      t_(in, "for (int l = 0; l < ", vec_, "; ++l) z", k, "[l] = ", linear ? "a.p" : "g", k, linear ? "" : "[u]", step,
         ";");
    } else {
      t_(in, register_type(type(k)), " ", array);
      t_("#pragma unroll");
      t_(in, "for (int l = 0; l < ", vec_, "; ++l) z", k, "[l] = ", widened(type(k), "i" + num(k) + "[" + u + "].v[l]"),
         ";");
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

}  // namespace sinter::jit::cuda
