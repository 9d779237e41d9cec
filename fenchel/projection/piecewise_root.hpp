// The root of a sum of clipped lines,
//
//     F(t) = sum_i clip(c_i + g_i t, lo_i, hi_i) = level,      g_i >= 0,
//
// which is what the multiplier of every projection of this room solves. F is nondecreasing and piecewise linear with kinks
// at (lo_i - c_i)/g_i and (hi_i - c_i)/g_i. Linear time: a random sample of the pieces says between which two points the
// root should be, one pass asks all pieces whether that is so, and only those with a kink strictly between the points are
// left (Floyd and Rivest's idea of selection). The last few thousand are left to Newton's steps in a bracket and, where these
// do not arrive, halved at the median of their kinks; strict inequalities drop the median and all its duplicates each
// round, so that ties do no harm. The sample has a fixed seed and sums have fixed blocks: the result does not depend on
// who computes it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::projection {

// t -> clip(c + g t, lo, hi)
struct Piece {
  double c = 0.0, g = 0.0, lo = 0.0, hi = 0.0;

  [[nodiscard, gnu::always_inline]] double clipped(double value) const { return std::min(std::max(value, lo), hi); }
  [[nodiscard, gnu::always_inline]] double at(double t) const { return clipped(c + g * t); }
};

namespace detail {

// Ends that are not known yet; finite, so that g t is never 0 times infinity.
inline constexpr double farthest = std::numeric_limits<double>::max();
// So few pieces that sorting out by medians is cheaper than a sample.
inline constexpr std::size_t few_pieces = 2048;
// Loops run over chunks of entries: first entry by entry into columns, without a sum, then over the columns with
// independent partial sums. Compilers make vector instructions of both; the order of the sums is fixed.
inline constexpr std::size_t chunk_size = 256;
using Column = std::array<double, chunk_size>;

template <class Work>
void for_each_chunk(std::size_t begin, std::size_t end, const Work& work) {
  for (; begin < end; begin += chunk_size) work(begin, std::min(chunk_size, end - begin));
}

inline double column_sum(const Column& column, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> s{};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) s[lane] += column[k + lane];
  }
  for (; k < count; ++k) s[0] += column[k];
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// The same with compensation.
inline CompensatedSum exact_column_sum(const Column& column, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{}, errors{};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const TwoSum next = two_sum(sums[lane], column[k + lane]);
      sums[lane] = next.sum;
      errors[lane] += next.error;
    }
  }
  CompensatedSum total;
  for (const double x : sums) total.add(x);
  for (const double x : errors) total.add(x);
  for (; k < count; ++k) total.add(column[k]);
  return total;
}

struct Bracket {
  double low = -farthest, high = farthest;

  void tell(double t, double excess) {
    if (excess >= 0.0) high = std::min(high, t);
    if (excess <= 0.0) low = std::max(low, t);
  }
  [[nodiscard]] double base() const { return low > -farthest ? low : high < farthest ? high : 0.0; }
};

// The pieces without a kink inside the bracket, together: value + slope (t - base).
struct Line {
  double base = 0.0, value = 0.0, slope = 0.0;

  [[nodiscard]] double at(double t) const { return slope == 0.0 ? value : value + slope * (t - base); }
  void move_to(double t) { value = at(t), base = t; }
};

// F at two points in one pass.
template <class Source>
std::array<double, 2> values_at(const Source& pieces, std::size_t count, double t0, double t1) {
  std::vector<std::array<double, 2>> partial((count + rows_in_block - 1) / rows_in_block);
  for_each_block(count, [&](std::size_t begin, std::size_t end) {
    Column first, second;
    std::array<double, 2> sums{};
    for_each_chunk(begin, end, [&](std::size_t start, std::size_t size) {
      for (std::size_t k = 0; k < size; ++k) {
        const Piece piece = pieces(start + k);
        first[k] = piece.at(t0);
        second[k] = piece.at(t1);
      }
      sums[0] += column_sum(first, size);
      sums[1] += column_sum(second, size);
    });
    partial[begin / rows_in_block] = sums;
  });
  CompensatedSum first, second;
  for (const auto& block : partial) first.add(block[0]), second.add(block[1]);
  return {first.total(), second.total()};
}

// The pieces with a kink strictly inside the bracket, in order; all others go into the line (at its base).
template <class Source>
std::vector<Piece> sift(const Source& pieces, std::size_t count, const Bracket& bracket, Line& line) {
  struct Block {
    double value = 0.0, slope = 0.0;
    std::vector<Piece> kept;
  };
  const double low = bracket.low, high = bracket.high, base = line.base;
  std::vector<Block> blocks((count + rows_in_block - 1) / rows_in_block);
  for_each_block(count, [&](std::size_t begin, std::size_t end) {
    Block& block = blocks[begin / rows_in_block];
    Column value, slope, bends, moves;  // the latter two by how much, without a branch
    for_each_chunk(begin, end, [&](std::size_t start, std::size_t size) {
      for (std::size_t k = 0; k < size; ++k) {
        const Piece piece = pieces(start + k);
        const double from = std::max(piece.c + piece.g * low, -farthest);
        const double to = std::min(piece.c + piece.g * high, farthest);
        bends[k] = std::max(std::min(piece.lo - from, to - piece.lo), std::min(piece.hi - from, to - piece.hi));
        moves[k] = std::min(from - piece.lo, piece.hi - to);
        value[k] = piece.at(base);
        slope[k] = piece.g;
      }
      for (std::size_t k = 0; k < size; ++k) {
        value[k] = bends[k] > 0.0 ? 0.0 : value[k];
        slope[k] = moves[k] >= 0.0 ? slope[k] : 0.0;
      }
      block.value += column_sum(value, size);
      block.slope += column_sum(slope, size);
      for (std::size_t k = 0; k < size; ++k) {
        if (bends[k] > 0.0) block.kept.push_back(pieces(start + k));
      }
    });
  });
  CompensatedSum value, slope;
  std::size_t kept = 0;
  for (const Block& block : blocks) value.add(block.value), slope.add(block.slope), kept += block.kept.size();
  line.value += value.total();
  line.slope += slope.total();
  std::vector<Piece> rest;
  rest.reserve(kept);
  for (const Block& block : blocks) rest.insert(rest.end(), block.kept.begin(), block.kept.end());
  return rest;
}

// Newton's steps on line + sum of the pieces = level inside the bracket, which they narrow; true with t at the root (up to
// the rounding of the sum) where they find it. Cheaper than a median, but nothing bounds how many are needed.
inline bool newton_root(std::span<const Piece> pieces, Bracket& bracket, const Line& line, double level,
                        double& t) {
  constexpr int most_steps = 8;
  t = bracket.base();
  for (int k = 0; k < most_steps; ++k) {
    double value = 0.0, slope = line.slope, magnitude = std::fabs(level);
    for (const Piece& piece : pieces) {
      const double free = piece.c + piece.g * t, x = piece.clipped(free);
      value += x;
      magnitude += std::fabs(x);
      slope += free == x ? piece.g : 0.0;
    }
    const double excess = value + line.at(t) - level;
    bracket.tell(t, excess);
    if (std::fabs(excess) <= 2 * unit_roundoff * (magnitude + std::fabs(line.at(t)))) return true;
    t -= excess / slope;
    if (!(t > bracket.low && t < bracket.high)) {
      if (!(bracket.low > -farthest && bracket.high < farthest)) return false;
      t = bracket.low + (bracket.high - bracket.low) / 2;
    }
  }
  return false;
}

// The root of line + sum of the pieces = level by medians of kinks; narrows the bracket. Where F is constant around the
// root, or there is none, an end of the bracket.
inline double select_root(std::vector<Piece> pieces, Bracket& bracket, Line line, double level) {
  if (double t = 0.0; newton_root(pieces, bracket, line, level, t)) return t;
  std::vector<double> kinks;
  for (;;) {
    kinks.clear();
    const auto inside = [&](double t) { return t > bracket.low && t < bracket.high; };
    std::size_t left = 0;
    for (const Piece& piece : pieces) {
      const double low = (piece.lo - piece.c) / piece.g, high = (piece.hi - piece.c) / piece.g;
      if (inside(low)) kinks.push_back(low);
      if (inside(high)) kinks.push_back(high);
      if (inside(low) || inside(high)) {
        pieces[left++] = piece;
      } else if (low >= bracket.high) {
        line.value += piece.lo;
      } else if (high <= bracket.low) {
        line.value += piece.hi;
      } else {
        line.value += piece.g == 0.0 ? piece.at(0.0) : piece.c + piece.g * line.base;
        line.slope += piece.g;
      }
    }
    pieces.resize(left);
    if (kinks.empty()) break;
    const auto middle = kinks.begin() + static_cast<std::ptrdiff_t>(kinks.size() / 2);
    std::nth_element(kinks.begin(), middle, kinks.end());
    double value = line.at(*middle);
    for (const Piece& piece : pieces) value += piece.at(*middle);
    if (std::isnan(value)) break;  // numbers too large to be added: nothing more can be told
    bracket.tell(*middle, value - level);
  }
  if (line.slope > 0.0) return std::clamp(line.base + (level - line.value) / line.slope, bracket.low, bracket.high);
  // In floating-point numbers F may jump at a kink; then the root is at the end where it jumps over the level.
  if (line.value < level && bracket.high < farthest) return bracket.high;
  return bracket.base();
}

// Puts the root between two points that a sample of the pieces proposes: where the sample's sum is as far from the level as
// three standard errors.
template <class Source>
void narrow(const Source& pieces, std::size_t count, Bracket& bracket, const Line& line, double level) {
  constexpr double largest_sample = 1 << 14;
  const auto size =
      static_cast<std::size_t>(std::min(largest_sample, std::pow(static_cast<double>(count), 2.0 / 3.0)));
  std::vector<Piece> sample;
  sample.reserve(size);
  Random random(count);
  for (std::size_t k = 0; k < size; ++k) sample.push_back(pieces(random.below(count)));
  const double share = static_cast<double>(size) / static_cast<double>(count);
  const Line scaled{line.base, line.value * share, line.slope * share};
  const auto root = [&](double target) {
    Bracket around = bracket;
    return select_root(sample, around, scaled, target);
  };
  const double middle = root(level * share);
  double mean = 0.0, square = 0.0;
  for (const Piece& piece : sample) mean += piece.at(middle) / static_cast<double>(size);
  for (const Piece& piece : sample) square += (piece.at(middle) - mean) * (piece.at(middle) - mean);
  const double doubt = 3.0 * std::sqrt(square);
  const double low = root(level * share - doubt), high = root(level * share + doubt);
  const std::array<double, 2> values = values_at(pieces, count, low, high);
  bracket.tell(low, values[0] + line.at(low) - level);
  bracket.tell(high, values[1] + line.at(high) - level);
}

}  // namespace detail

// A t with F(t) + slope t = level, up to rounding; the sum must take values on both sides of the level, or the level itself.
// `pieces(i)` is the Piece of 0 <= i < count.
template <class Source>
double piecewise_root(const Source& pieces, std::size_t count, double level, double slope = 0.0) {
  detail::Bracket bracket;
  detail::Line line{.slope = slope};
  std::vector<Piece> rest;
  const auto sift = [&](const auto& source, std::size_t size) {
    detail::narrow(source, size, bracket, line, level);
    line.move_to(bracket.base());
    rest = detail::sift(source, size, bracket, line);
  };
  if (count <= detail::few_pieces) {
    for (std::size_t i = 0; i < count; ++i) rest.push_back(pieces(i));
  } else {
    sift(pieces, count);
    for (std::size_t before = count; rest.size() > detail::few_pieces && rest.size() <= before / 2;) {
      before = rest.size();
      sift([kept = std::move(rest)](std::size_t i) { return kept[i]; }, before);
    }
  }
  return detail::select_root(std::move(rest), bracket, line, level);
}

// The root in more digits than one double has: base + shift, with |shift| of the size of base's rounding. Where the c_i are
// much larger than the values, those are the digits that count; values are clip((c + g base) + g shift, lo, hi).
struct PreciseRoot {
  double base = 0.0, shift = 0.0;

  [[nodiscard, gnu::always_inline]] double apply(const Piece& piece) const {
    return piece.clipped((piece.c + piece.g * base) + piece.g * shift);
  }
};

template <class Source>
PreciseRoot precise_root(const Source& pieces, std::size_t count, double level) {
  struct Sums {
    CompensatedSum value;
    double upward = 0.0, downward = 0.0;  // slopes on either side: an entry on a kink moves away from its bound
    double magnitude = 0.0;
    void add(const Sums& other) {
      value.add(other.value);
      upward += other.upward;
      downward += other.downward;
      magnitude += other.magnitude;
    }
  };
  PreciseRoot root{.base = piecewise_root(pieces, count, level)};
  constexpr int most_corrections = 3;
  for (int k = 0; k < most_corrections; ++k) {
    Sums sums = block_sum<Sums>(count, [&](std::size_t i, Sums& sum) {
      const Piece piece = pieces(i);
      const double line = (piece.c + piece.g * root.base) + piece.g * root.shift;
      const double value = piece.clipped(line);
      sum.value.add(value);
      sum.magnitude += std::fabs(value);
      if (line >= piece.lo && line < piece.hi) sum.upward += piece.g;
      if (line > piece.lo && line <= piece.hi) sum.downward += piece.g;
    });
    sums.value.add(-level);
    const double missing = -sums.value.total();
    const double slope = missing > 0.0 ? sums.upward : sums.downward;
    if (std::fabs(missing) <= 4 * unit_roundoff * (sums.magnitude + std::fabs(level)) || slope == 0.0) break;
    root.shift += missing / slope;
  }
  return root;
}

}  // namespace fenchel::projection
