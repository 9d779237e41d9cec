// Geometries for gradient methods. A distance-generating function d with the divergence
// Delta(x, y) = d(x) - d(y) - <d'(y), x - y> gives a method its prox-steps
//
//     argmin over x of  <G, x> + sum_k r_k Delta(x, c_k),      r_k >= 0, R = sum_k r_k > 0,
//
// which in the mirror (where a point stands as d'(x), up to a constant) is an average, (sum_k r_k c_k - G) / R, followed by
// the way back. The Euclidean geometry's mirror is the point itself; the entropy's are logarithms, kept beside the point and
// never normalised, so that an entry may be as small as it likes and come back. Penalties that are divergences themselves,
// (lambda/2) ||x||^2 from 0 and lambda KL(x || w0) from w0, are pulls like the others; after a Euclidean step, any
// h Psi is the proximal map of (h/R) Psi at the point.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>

#include "fenchel/base/sum.hpp"
#include "fenchel/projection/kl_capped_simplex.hpp"

namespace fenchel::projection {

template <class G>
concept Geometry = requires(const G& geometry, std::span<const double> in, std::span<double> out) {
  { geometry.divergence(in, in) } -> std::convertible_to<double>;  // Delta(x, y) of two points
  geometry.mirror(in, out);                                        // from a point
  geometry.recover(in, out);                                       // and back, onto the set
};

// d = (1/2) ||x||^2 on all of space; strongly convex with modulus 1 in the l2 norm.
struct Euclidean {
  [[nodiscard]] double divergence(std::span<const double> x, std::span<const double> y) const {
    return 0.5 * block_sum<CompensatedSum>(x.size(), [&](std::size_t j, CompensatedSum& sum) {
                   sum.add((x[j] - y[j]) * (x[j] - y[j]));
                 }).total();
  }
  void mirror(std::span<const double> x, std::span<double> out) const {
    std::copy(x.begin(), x.end(), out.begin());
  }
  void recover(std::span<const double> in, std::span<double> x) const {
    std::copy(in.begin(), in.end(), x.begin());
  }
};

// d = sum x log x on the simplex with entries of at most `cap`; strongly convex with modulus 1 in the l1 norm (Pinsker).
struct Entropy {
  double cap = 1.0;

  // KL(x || y), infinite where x has an entry that y has not. Terms x log(x/y) - x + y are all >= 0: no cancellation
  // between them, and the same sum on the simplex.
  [[nodiscard]] double divergence(std::span<const double> x, std::span<const double> y) const {
    CompensatedSum sum;
    for (std::size_t j = 0; j < x.size(); ++j)
      sum.add(x[j] == 0.0 ? y[j] : x[j] * (std::log(x[j]) - std::log(y[j])) - x[j] + y[j]);
    return sum.total();
  }
  void mirror(std::span<const double> x, std::span<double> out) const {
    for (std::size_t j = 0; j < x.size(); ++j) out[j] = std::log(x[j]);
  }
  void recover(std::span<const double> in, std::span<double> x) const { project_kl_capped_simplex(in, cap, x); }
};

static_assert(Geometry<Euclidean> && Geometry<Entropy>);

// r Delta(x, c), with c in the mirror.
struct Pull {
  double weight = 0.0;
  std::span<const double> centre;
};

// The prox-step; leaves the new point in the mirror too, for later pulls. `gradient` may be empty: 0.
template <Geometry G>
void prox_step(const G& geometry, std::span<const double> gradient, std::span<const Pull> pulls,
               std::span<double> mirrored, std::span<double> point) {
  double total = 0.0;
  for (const Pull& pull : pulls) total += pull.weight;
  for_each_block(mirrored.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      double sum = gradient.empty() ? 0.0 : -gradient[j];
      for (const Pull& pull : pulls) {
        if (pull.weight > 0.0) sum += pull.weight * pull.centre[j];
      }
      mirrored[j] = sum / total;
    }
  });
  geometry.recover(mirrored, point);
}

}  // namespace fenchel::projection
