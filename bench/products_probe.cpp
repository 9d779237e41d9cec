// Times of the products with the data beside the memory's own speed, printed as JSON, for bench/products.py:
//     products_probe FILE THREADS ROUNDS [dense]
// The least seconds of each over the rounds, taken in turns: a triad (a = b + c x over arrays far larger than the caches),
// z = X w, g = X'a, and both in one pass (risk and gradient). `dense` stores all entries, zeros too.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <tbb/global_control.h>
#include <nlohmann/json.hpp>

#include "bench/probe.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/residence.hpp"

namespace {

using namespace fenchel;

std::vector<double> normals(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> list(size);
  for (double& x : list) x = random.normal();
  return list;
}

// The matrix with its zeros; `keep` owns the numbers.
template <class Value>
data::Matrix dense_of(const data::CsrRows<Value>& rows, std::vector<Value>& keep) {
  keep.assign(rows.rows() * rows.cols(), Value{});
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.values.size(); ++k) keep[i * rows.cols() + row.columns[k]] = row.values[k];
  }
  return data::DenseRows<Value>{keep, rows.rows(), rows.cols(), nullptr};
}

class Triad {
 public:
  static constexpr std::size_t size = std::size_t{1} << 24;

  void run() {
    for_each_block(size, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) a_[i] = b_[i] + 3.0 * c_[i];
    });
  }

 private:
  std::vector<double> a_ = std::vector<double>(size, 1.0), b_ = a_, c_ = a_;
};

template <class Work>
void keep_least(double& least, Work&& work) {
  const Stopwatch clock;
  work();
  least = std::min(least, clock.seconds());
}

nlohmann::ordered_json measure(const data::Matrix& matrix, std::size_t rounds) {
  data::LinearMap map({.matrix = matrix, .constant = 0.0});
  const std::vector<double> w = normals(map.cols(), 1), a = normals(map.rows(), 2);
  std::vector<double> z(map.rows()), beta(map.rows()), g(map.cols());
  Triad triad;
  constexpr double never = 1e300;
  double triad_seconds = never, margins = never, adjoint = never, fused = never;
  for (std::size_t k = 0; k < rounds; ++k) {
    keep_least(triad_seconds, [&] { triad.run(); });
    for (int repeat = 0; repeat < 3; ++repeat) {
      keep_least(margins, [&] { map.margins(w, z); });
      keep_least(adjoint, [&] { map.adjoint(a, g); });
      keep_least(fused, [&] {
        map.margins_and_adjoint(
            w, z,
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) beta[i] = 0.5 * z[i];
            },
            beta, g);
      });
    }
  }
  const double entries = static_cast<double>(data::bytes_of(matrix));
  const double vectors = 8.0 * static_cast<double>(map.rows() + map.cols());
  return {{"storage", matrix.index()},  // as in data::Matrix
          {"rows", map.rows()},
          {"columns", map.cols()},
          {"nonzeros", data::nonzeros(matrix)},
          {"bytes", entries + vectors},
          {"triad_bytes_per_second", 24.0 * static_cast<double>(Triad::size) / triad_seconds},
          {"margins", margins},
          {"adjoint", adjoint},
          {"fused", fused}};
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: products_probe FILE THREADS ROUNDS [dense]\n");
    return 2;
  }
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, std::stoul(words[2]));
  const data::Dataset dataset = data::read(words[1]);
  data::Matrix matrix = dataset.matrix();
  std::vector<double> doubles;
  std::vector<float> floats;
  if (count > 4) {
    if (const auto* wide = std::get_if<data::CsrRows<double>>(&matrix))
      matrix = dense_of(*wide, doubles);
    else if (const auto* narrow = std::get_if<data::CsrRows<float>>(&matrix))
      matrix = dense_of(*narrow, floats);
  }
  bench::print_line(measure(matrix, std::stoul(words[3])).dump());
  return 0;
}
