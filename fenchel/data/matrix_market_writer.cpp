#include <atomic>

#include <fmt/format.h>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/matrix_market.hpp"
#include "fenchel/data/text_block.hpp"

namespace fenchel::data {

namespace {

// Without the zeros that rows may hold nevertheless.
template <class Rows>
std::size_t count_entries(const Rows& matrix) {
  std::atomic<std::size_t> total = 0;
  const std::size_t n = matrix.rows(), in_block = items_in_block(n, matrix.nonzeros());
  parallel_for((n + in_block - 1) / in_block, [&](std::size_t block) {
    std::size_t count = 0;
    for (std::size_t i = block * in_block; i < std::min(n, (block + 1) * in_block); ++i) {
      matrix.row(i).for_each([&](std::size_t, double value) { count += value != 0.0 ? 1 : 0; });
    }
    total += count;
  });
  return total;
}

template <class Rows>
void write_mtx_coordinates(Sink& out, const Rows& matrix) {
  const std::size_t n = matrix.rows();
  out.write(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", n, matrix.cols(),
                        count_entries(matrix)));
  write_in_order(out, n, items_in_block(n, matrix.nonzeros()),
                 [&](TextBlock& block, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     matrix.row(i).for_each([&](std::size_t j, double value) {
                       if (value == 0.0) return;
                       block.add(std::uint64_t{i + 1});
                       block.add(' ');
                       block.add(std::uint64_t{j + 1});
                       block.add(' ');
                       block.add(value);
                       block.add('\n');
                     });
                   }
                 });
}

template <class Value>
void write_mtx(Sink& out, const CsrRows<Value>& matrix) {
  write_mtx_coordinates(out, matrix);
}

// Column after column.
template <class Value>
void write_mtx(Sink& out, const DenseRows<Value>& matrix) {
  const std::size_t n = matrix.rows(), d = matrix.cols(), cells = n * d;
  if (cells == 0) return write_mtx_coordinates(out, matrix);  // an array has at least one cell
  out.write(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", n, d));
  write_in_order(out, cells, items_in_block(cells, cells),
                 [&](TextBlock& block, std::size_t begin, std::size_t end) {
                   for (std::size_t cell = begin; cell < end; ++cell) {
                     block.add(static_cast<double>(matrix.row(cell % n).values[cell / n]));
                     block.add('\n');
                   }
                 });
}

}  // namespace

void write_matrix_market(Sink& out, const Dataset& data) {
  std::visit([&](const auto& matrix) { write_mtx(out, matrix); }, data.matrix());
}

}  // namespace fenchel::data
