// The two innermost loops of multiclass solvers: the k scores of a row, and a rank-one update of the k weights of its
// features. Weights lie feature by feature, padded to `stride` numbers, a multiple of `lanes`. Every class has its own sums in
// the order of the row, so that wider vector instructions, which are used where the processor has them, give the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fenchel/base/lanes.hpp"
#include "fenchel/base/processor.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::kernel {

inline constexpr std::size_t padded(std::size_t classes) { return (classes + lanes - 1) / lanes * lanes; }

namespace detail {

#define FENCHEL_INLINE [[gnu::always_inline]] inline

// Entry n of a row as its column and value.
template <class Value>
FENCHEL_INLINE std::size_t column(const data::SparseRow<Value>& row, std::size_t n) {
  return row.columns.data()[n];
}
template <class Value>
FENCHEL_INLINE std::size_t column(const data::DenseRow<Value>& /*row*/, std::size_t n) {
  return n;
}

// Identity: the weights themselves are stored.
struct PlainWeights {
  FENCHEL_INLINE void apply(std::size_t /*j*/, Lanes& /*weights*/) const {}
};
// u is stored, and w = S(u, l1) / l2.
struct ThresholdedWeights {
  const double* l1;
  const double* inverse_l2;
  std::size_t step;  // 0: one strength for all features
  FENCHEL_INLINE void apply(std::size_t j, Lanes& weights) const {
    const double t = l1[j * step], scale = inverse_l2[j * step];
    const Lanes zero = {};
    const Lanes above = weights - t, below = weights + t;
    weights = (weights > t ? above : (weights < -t ? below : zero)) * scale;
  }
};

template <int Width, class Row, class Weights>
FENCHEL_INLINE void score_columns(const Row& row, const Weights& weights, const double* w, std::size_t stride,
                                  double* scores) {
  // Few sums are kept twice, for entries in turns: an addition has to wait for the last one into the same place.
  constexpr std::size_t turns = Width <= 5 ? 2 : 1;
  Lanes sums[turns][Width] = {};
  const std::size_t count = row.values.size();
  const auto* const values = row.values.data();
  for (std::size_t n = 0; n < count; n += turns) {
    for (std::size_t turn = 0; turn < turns && n + turn < count; ++turn) {
      const std::size_t j = column(row, n + turn);
      const double* const from = w + j * stride;
      const auto x = static_cast<double>(values[n + turn]);
      for (int v = 0; v < Width; ++v) {
        Lanes entry;
        load(from + static_cast<std::size_t>(v) * lanes, entry);
        weights.apply(j, entry);
        sums[turn][v] += entry * x;
      }
    }
  }
  for (int v = 0; v < Width; ++v) {
    if constexpr (turns == 2) sums[0][v] += sums[1][v];
    store(sums[0][v], scores + static_cast<std::size_t>(v) * lanes);
  }
}

// Calls work(width, first) for all columns in groups of so many vectors, a number that the compiler knows: their sums stay in
// registers while a row is gone through.
template <class Work>
FENCHEL_INLINE void in_vectors(std::size_t stride, Work&& work) {
  std::size_t first = 0;
  for (; first + 8 * lanes <= stride; first += 8 * lanes) work(std::integral_constant<int, 8>{}, first);
  switch ((stride - first) / lanes) {
    case 7: work(std::integral_constant<int, 7>{}, first); break;
    case 6: work(std::integral_constant<int, 6>{}, first); break;
    case 5: work(std::integral_constant<int, 5>{}, first); break;
    case 4: work(std::integral_constant<int, 4>{}, first); break;
    case 3: work(std::integral_constant<int, 3>{}, first); break;
    case 2: work(std::integral_constant<int, 2>{}, first); break;
    case 1: work(std::integral_constant<int, 1>{}, first); break;
    default: break;
  }
}

template <int Width, class Row>
FENCHEL_INLINE void add_columns(const Row& row, const double* change, std::size_t stride, double* w) {
  Lanes deltas[Width];
  for (int v = 0; v < Width; ++v) load(change + static_cast<std::size_t>(v) * lanes, deltas[v]);
  const std::size_t count = row.values.size();
  const auto* const values = row.values.data();
  for (std::size_t n = 0; n < count; ++n) {
    double* const to = w + column(row, n) * stride;
    const auto x = static_cast<double>(values[n]);
    for (int v = 0; v < Width; ++v) {
      Lanes entry;
      load(to + static_cast<std::size_t>(v) * lanes, entry);
      entry += deltas[v] * x;
      store(entry, to + static_cast<std::size_t>(v) * lanes);
    }
  }
}

// See below.
FENCHEL_INLINE double take_duals_body(std::span<const double> next, double scale, double* beta, double* change,
                                      double& moved) {
  Lanes moves = {}, squares = {};
  std::size_t l = 0;
  for (; l + lanes <= next.size(); l += lanes) {
    Lanes to, from;
    load(next.data() + l, to);
    load(beta + l, from);
    const Lanes delta = to - from;
    moves += delta;
    squares += delta * delta;
    store(to, beta + l);
    store(delta * scale, change + l);
  }
  for (; l < next.size(); ++l) {
    const double delta = next[l] - beta[l];
    moves[0] += delta;
    squares[0] += delta * delta;
    beta[l] = next[l];
    change[l] = delta * scale;
  }
  moved = sum_of(moves);
  return sum_of(squares);
}

#undef FENCHEL_INLINE

#if defined(__x86_64__)
template <int Width, class Row, class Weights>
[[gnu::target("avx2")]] void score_avx2(const Row& row, const Weights& weights, const double* w, std::size_t stride,
                                        double* scores) {
  score_columns<Width>(row, weights, w, stride, scores);
}
template <int Width, class Row>
[[gnu::target("avx2")]] void add_avx2(const Row& row, const double* change, std::size_t stride, double* w) {
  add_columns<Width>(row, change, stride, w);
}
[[gnu::target("avx2")]] inline double take_duals_avx2(std::span<const double> next, double scale, double* beta,
                                                      double* change, double& moved) {
  return take_duals_body(next, scale, beta, change, moved);
}
#endif

}  // namespace detail

// scores_l = sum_j x_j w_jl
template <class Row, class Weights>
void row_scores(const Row& row, const Weights& weights, const double* w, std::size_t stride, double* scores) {
  detail::in_vectors(stride, [&](auto width, std::size_t first) {
#if defined(__x86_64__)
    if (has_avx2()) return detail::score_avx2<width()>(row, weights, w + first, stride, scores + first);
#endif
    detail::score_columns<width()>(row, weights, w + first, stride, scores + first);
  });
}

// w_jl += x_j change_l
template <class Row>
void add_row(const Row& row, const double* change, std::size_t stride, double* w) {
  detail::in_vectors(stride, [&](auto width, std::size_t first) {
#if defined(__x86_64__)
    if (has_avx2()) return detail::add_avx2<width()>(row, change + first, stride, w + first);
#endif
    detail::add_columns<width()>(row, change + first, stride, w + first);
  });
}

// beta = next, change = scale (next - beta), moved = sum (next - beta). Returns the sum of the squares of the moves.
inline double take_duals(std::span<const double> next, double scale, double* beta, double* change, double& moved) {
#if defined(__x86_64__)
  if (has_avx2()) return detail::take_duals_avx2(next, scale, beta, change, moved);
#endif
  return detail::take_duals_body(next, scale, beta, change, moved);
}

namespace detail {

template <std::size_t Count, class Row>
void score_few(const Row& row, const std::uint32_t* classes, const double* w, std::size_t stride, double* scores) {
  double sums[2][Count] = {};  // as in score_columns
  const std::size_t count = row.values.size();
  const auto* const values = row.values.data();
  for (std::size_t n = 0; n < count; n += 2) {
    for (std::size_t turn = 0; turn < 2 && n + turn < count; ++turn) {
      const double* const from = w + column(row, n + turn) * stride;
      const auto x = static_cast<double>(values[n + turn]);
      for (std::size_t l = 0; l < Count; ++l) sums[turn][l] += x * from[classes[l]];
    }
  }
  for (std::size_t l = 0; l < Count; ++l) scores[l] = sums[0][l] + sums[1][l];
}

template <std::size_t Count, class Row>
void add_few(const Row& row, const std::uint32_t* classes, const double* change, std::size_t stride, double* w) {
  for (std::size_t n = 0; n < row.values.size(); ++n) {
    double* const to = w + column(row, n) * stride;
    const auto x = static_cast<double>(row.values[n]);
    for (std::size_t l = 0; l < Count; ++l) to[classes[l]] += x * change[l];
  }
}

// Calls work(size, first) for a list in groups of at most four, whose size the compiler knows.
template <class Work>
void in_groups(std::size_t count, Work&& work) {
  std::size_t first = 0;
  for (; first + 4 <= count; first += 4) work(std::integral_constant<std::size_t, 4>{}, first);
  switch (count - first) {
    case 3: work(std::integral_constant<std::size_t, 3>{}, first); break;
    case 2: work(std::integral_constant<std::size_t, 2>{}, first); break;
    case 1: work(std::integral_constant<std::size_t, 1>{}, first); break;
    default: break;
  }
}

}  // namespace detail

// Both for the few classes of a list, with an entry of `scores` and `change` for each of these; weights themselves are stored.
template <class Row>
void listed_scores(const Row& row, std::span<const std::uint32_t> classes, const double* w, std::size_t stride,
                   double* scores) {
  detail::in_groups(classes.size(), [&](auto size, std::size_t first) {
    detail::score_few<size()>(row, classes.data() + first, w, stride, scores + first);
  });
}
template <class Row>
void add_listed(const Row& row, std::span<const std::uint32_t> classes, const double* change, std::size_t stride,
                double* w) {
  detail::in_groups(classes.size(), [&](auto size, std::size_t first) {
    detail::add_few<size()>(row, classes.data() + first, change + first, stride, w);
  });
}

}  // namespace fenchel::kernel
