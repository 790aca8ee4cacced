// d = 2 (x - y) / (x + y) over float32 vectors, in every form that the library offers.
#pragma once
#include <string_view>

#include "common/throughput.hpp"

namespace relative_difference {

namespace sn = sinter;
using examples::work;
using sn::ndarray;

// In forms.cpp: array expressions.
work plain_loop(const ndarray& x, const ndarray& y);
work expression(const ndarray& x, const ndarray& y);
work in_place(const ndarray& x, const ndarray& y);
work into_array(const ndarray& x, const ndarray& y);
work every_other(const ndarray& x, const ndarray& y);
work largest_of_expression(const ndarray& x, const ndarray& y);

// In kernel_forms.cpp: kernels from text, which run on the CPU, too.
work device_function(const ndarray& x, const ndarray& y);
work elementwise(const ndarray& x, const ndarray& y);
work elementwise_into_array(const ndarray& x, const ndarray& y);
work elementwise_raw(const ndarray& x, const ndarray& y);
work elementwise_every_other(const ndarray& x, const ndarray& y);
work reduction(const ndarray& x, const ndarray& y);

// In raw_forms.cpp: kernels written in CUDA C++.
work raw_grid_stride(const ndarray& x, const ndarray& y);
work raw_by_four(const ndarray& x, const ndarray& y);
work raw_strided(const ndarray& x, const ndarray& y);
/// Their source, difference.cu.
extern const std::string_view difference_cuda;

/// All forms, with the bounds that they are held to.
examples::computation all_forms();

}  // namespace relative_difference
