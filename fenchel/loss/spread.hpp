// The second derivative of a multiclass loss with respect to the k scores of a row. For all of ours it is that of a spread:
//     v'Hv = min over m of sum_j h_j (v_j - m)^2,   H = diag(h) - h h' / sum h,
// with weights h >= 0, one a class. The weight of the row's own class y may be infinite, which means m = v_y. Spans have k entries.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace fenchel::loss::spread {

// The best m; 0 where there are no weights.
inline double center(std::size_t y, std::span<const double> h, std::span<const double> v) {
  if (std::isinf(h[y])) return v[y];
  double sum = 0.0, weighted = 0.0;
  for (std::size_t j = 0; j < h.size(); ++j) {
    sum += h[j];
    weighted += h[j] * v[j];
  }
  return sum > 0.0 ? weighted / sum : 0.0;
}

// result = H v. The entries sum to 0.
inline void apply(std::size_t y, std::span<const double> h, std::span<const double> v, std::span<double> result) {
  const double m = center(y, h, v);
  double others = 0.0;
  for (std::size_t j = 0; j < h.size(); ++j) {
    result[j] = j == y ? 0.0 : h[j] * (v[j] - m);
    others += result[j];
  }
  result[y] = -others;
}

// v'Hv
inline double square(std::size_t y, std::span<const double> h, std::span<const double> v) {
  const double m = center(y, h, v);
  double sum = 0.0;
  for (std::size_t j = 0; j < h.size(); ++j) {
    if (v[j] != m) sum += h[j] * (v[j] - m) * (v[j] - m);
  }
  return sum;
}

// result_j = H_jj
inline void diagonal(std::size_t y, std::span<const double> h, std::span<double> result) {
  double others = 0.0;
  for (std::size_t j = 0; j < h.size(); ++j) others += j == y ? 0.0 : h[j];
  const bool tied = std::isinf(h[y]);
  const double sum = others + h[y];
  for (std::size_t j = 0; j < h.size(); ++j) {
    result[j] = tied || sum == 0.0 ? h[j] : h[j] * ((sum - h[j]) / sum);
  }
  result[y] = tied || sum == 0.0 ? others : h[y] * (others / sum);
}

// result += weight H, a k x k matrix
inline void add(std::size_t y, std::span<const double> h, double weight, std::span<double> result) {
  const std::size_t k = h.size();
  const bool tied = std::isinf(h[y]);
  double sum = 0.0;
  for (const double x : h) sum += x;
  if (sum == 0.0) return;
  for (std::size_t j = 0; j < k; ++j) {
    if (h[j] == 0.0 || (tied && j == y)) continue;
    const double own = weight * h[j];
    result[j * k + j] += own;
    if (tied) {
      result[j * k + y] -= own;
      result[y * k + j] -= own;
      result[y * k + y] += own;
    } else {
      const double part = own / sum;
      for (std::size_t l = 0; l < k; ++l) result[j * k + l] -= part * h[l];
    }
  }
}

}  // namespace fenchel::loss::spread
