#include "fenchel/data/npy.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/npy_header.hpp"
#include "fenchel/data/pages.hpp"
#include "fenchel/data/text_block.hpp"

namespace fenchel::data {

namespace {

enum class NpyBool : std::uint8_t {};  // anything but 0 is true

template <class Raw>
Raw load(const char* at, bool swapped) {
  std::array<char, sizeof(Raw)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Raw));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Raw>(bytes);
}

template <class Raw>
double number_of(Raw raw) {
  if constexpr (std::is_same_v<Raw, NpyBool>) return raw == NpyBool{} ? 0.0 : 1.0;
  if constexpr (!std::is_same_v<Raw, NpyBool>) return static_cast<double>(raw);
}

// Whether a number can be part of the problem.
template <class Raw>
bool usable(Raw raw, Precision precision) {
  if constexpr (std::is_floating_point_v<Raw>) {
    const double most = precision == Precision::f32 ? double{std::numeric_limits<float>::max()}
                                                    : std::numeric_limits<double>::max();
    if constexpr (std::is_same_v<Raw, float>) return std::fabs(raw) <= std::numeric_limits<float>::max();
    // What is a little more than the largest float is rounded to it.
    return std::fabs(raw) <= most || (std::isfinite(raw) && std::isfinite(static_cast<float>(raw)));
  } else if constexpr (sizeof(Raw) == sizeof(double)) {
    const auto bits = static_cast<std::uint64_t>(raw);
    const std::uint64_t magnitude = std::is_signed_v<Raw> && raw < Raw{0} ? 0 - bits : bits;
    const std::uint64_t odd = magnitude == 0 ? 0 : magnitude >> std::countr_zero(magnitude);
    return odd >> std::numeric_limits<double>::digits == 0;
  } else {
    return true;
  }
}

bool fits_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

// The numbers of a file, wherever they lie; cells are counted row by row.
template <class Raw>
class NpyCells {
 public:
  NpyCells(const NpyHeader& header, std::string_view bytes, const std::string& name)
      : numbers_(bytes.data() + header.size),
        swapped_(header.swapped),
        // One row or one column is the same in both orders.
        fortran_(header.fortran && header.rows() > 1 && header.columns() > 1),
        n_(header.rows()),
        d_(header.columns()),
        name_(name) {}

  Values values(Precision precision, const std::shared_ptr<const void>& owner) const {
    const bool wide_float = std::is_same_v<Raw, double>;
    if (in_place() && !(wide_float && precision == Precision::f32)) {
      if constexpr (std::is_floating_point_v<Raw>) {
        survey(precision, [](Raw) { return true; });
        return Array<Raw>({reinterpret_cast<const Raw*>(numbers_), n_ * d_}, owner);
      }
    }
    const bool narrow = survey(precision, [](Raw raw) { return fits_float(number_of(raw)); });
    if (narrow || precision == Precision::f32) return converted<float>();
    return converted<double>();
  }

 private:
  static constexpr std::size_t tile = 64;  // so that columns are read and rows written in whole cache lines

  [[nodiscard]] bool in_place() const {
    const bool aligned = reinterpret_cast<std::uintptr_t>(numbers_) % alignof(Raw) == 0;
    return std::is_floating_point_v<Raw> && aligned && !swapped_ && !fortran_;
  }

  // Calls visit(cell, raw) for the cells of rows [begin, end), in some order.
  template <class Visit>
  void for_each(std::size_t begin, std::size_t end, Visit&& visit) const {
    if (!fortran_) {
      for (std::size_t cell = begin * d_; cell < end * d_; ++cell) visit(cell, at(cell));
      return;
    }
    for (std::size_t top = begin; top < end; top += tile) {
      const std::size_t bottom = std::min(end, top + tile);
      for (std::size_t left = 0; left < d_; left += tile) {
        const std::size_t right = std::min(d_, left + tile);
        for (std::size_t j = left; j < right; ++j) {
          for (std::size_t i = top; i < bottom; ++i) visit(i * d_ + j, at(j * n_ + i));
        }
      }
    }
  }
  [[nodiscard]] Raw at(std::size_t place) const { return load<Raw>(numbers_ + place * sizeof(Raw), swapped_); }

  template <class Work>
  void for_each_block(Work&& work) const {
    const std::size_t in_block = (items_in_block(n_, n_ * d_) + tile - 1) / tile * tile;
    const std::size_t blocks = (n_ + in_block - 1) / in_block;
    parallel_for(blocks, [&](std::size_t block) { work(block * in_block, std::min(n_, (block + 1) * in_block)); });
  }

  // Refuses the first number that cannot be used; whether all others have the property.
  template <class Property>
  bool survey(Precision precision, Property&& property) const {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::atomic<std::size_t> first = none;
    std::atomic<bool> all = true;
    for_each_block([&](std::size_t begin, std::size_t end) {
      bool good = true, having = true;
      for_each(begin, end, [&](std::size_t, Raw raw) {
        good &= usable(raw, precision);
        having &= property(raw);
      });
      if (!having) all.store(false, std::memory_order_relaxed);
      if (good) return;
      std::size_t bad = none;
      for_each(begin, end, [&](std::size_t cell, Raw raw) {
        if (!usable(raw, precision)) bad = std::min(bad, cell);
      });
      std::size_t known = first.load();
      while (bad < known && !first.compare_exchange_weak(known, bad)) {
      }
    });
    if (first != none) refuse(first);
    return all;
  }

  template <class Value>
  Values converted() const {
    Buffer<Value> result(n_ * d_);
    for_each_block([&](std::size_t begin, std::size_t end) {
      for_each(begin, end,
               [&](std::size_t cell, Raw raw) { result.data()[cell] = static_cast<Value>(number_of(raw)); });
    });
    return std::move(result).freeze();
  }

  [[noreturn]] void refuse(std::size_t cell) const {
    const std::size_t i = cell / d_, j = cell % d_;
    const Raw raw = at(fortran_ ? j * n_ + i : cell);
    std::string reason;
    if constexpr (std::is_floating_point_v<Raw>) {
      reason = !std::isfinite(raw) ? fmt::format("is {}: only finite numbers can be used", raw)
                                   : fmt::format("is {}, which overflows a float32: use --precision f64", raw);
    } else if constexpr (!std::is_same_v<Raw, NpyBool>) {
      reason = fmt::format("is {}, which is not exact in a double: scale or round it before saving", raw);
    }
    throw Error(Fault::input,
                fmt::format("{}: the number in row {}, column {} (counted from 0) {}", name_, i, j, reason));
  }

  const char* numbers_;
  bool swapped_;
  bool fortran_;
  std::size_t n_;
  std::size_t d_;
  const std::string& name_;
};

// Calls visit(std::type_identity<Raw>{}) for the type of the numbers.
template <class Visit>
auto with_npy_type(const NpyHeader& header, Visit&& visit) {
  const auto integer = [&]<class... Raw>(std::type_identity<Raw>... types) {
    Values values;
    const bool found = ((header.width == sizeof(Raw) && (values = visit(types), true)) || ...);
    if (!found) throw Error(Fault::failure, "an npy type without a reader");
    return values;
  };
  switch (header.kind) {
    case 'b': return visit(std::type_identity<NpyBool>{});
    case 'f': return integer(std::type_identity<float>{}, std::type_identity<double>{});
    case 'i':
      return integer(std::type_identity<std::int8_t>{}, std::type_identity<std::int16_t>{},
                     std::type_identity<std::int32_t>{}, std::type_identity<std::int64_t>{});
    default:
      return integer(std::type_identity<std::uint8_t>{}, std::type_identity<std::uint16_t>{},
                     std::type_identity<std::uint32_t>{}, std::type_identity<std::uint64_t>{});
  }
}

Values npy_values(Source& source, const NpyHeader& header, Precision precision) {
  return with_npy_type(header, [&]<class Raw>(std::type_identity<Raw>) {
    return NpyCells<Raw>(header, source.text(), source.name()).values(precision, source.owner());
  });
}

template <class Value>
void add_little_endian(TextBlock& block, std::span<Value> numbers) {
  if constexpr (std::endian::native == std::endian::big) {
    for (Value& number : numbers) number = load<Value>(reinterpret_cast<const char*>(&number), true);
  }
  block.add(std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()));
}

template <class Value>
void check_npy_cells(const CsrRows<Value>& matrix) {
  if (matrix.cols() == 0 || matrix.rows() <= most_cells / matrix.cols()) return;
  throw Error(
      Fault::usage,
      fmt::format("{} x {} sparse numbers would fill {:.3g} cells of an npy file, which holds the zeros too: "
                  "write mtx or fenchel-binary (.fbin) instead",
                  matrix.rows(), matrix.cols(),
                  static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols())));
}
template <class Value>
void check_npy_cells(const DenseRows<Value>&) {}

template <class Value>
Value value_type_of(const CsrRows<Value>&);
template <class Value>
Value value_type_of(const DenseRows<Value>&);

template <class Rows>
void write_npy_rows(Sink& out, const Rows& matrix) {
  using Value = decltype(value_type_of(matrix));
  const std::size_t n = matrix.rows(), d = matrix.cols();
  if (d == 0) throw Error(Fault::usage, "data without columns cannot be written as npy: use svmlight or mtx");
  check_npy_cells(matrix);
  out.write(npy_header_text(sizeof(Value), {n, d}));
  write_in_order(out, n, items_in_block(n, n * d), [&](TextBlock& block, std::size_t begin, std::size_t end) {
    std::vector<Value> dense(d);
    for (std::size_t i = begin; i < end; ++i) {
      std::fill(dense.begin(), dense.end(), Value{0});
      matrix.row(i).for_each([&](std::size_t j, double value) { dense[j] = static_cast<Value>(value); });
      add_little_endian(block, std::span(dense));
    }
  });
}

}  // namespace

Dataset read_npy(Source& source, const ReadOptions& options) {
  const NpyHeader header = parse_npy_header(source.text(), source.name());
  Dataset data;
  data.storage = DenseStorage{.values = npy_values(source, header, options.precision),
                              .row_count = header.rows(),
                              .column_count = header.columns()};
  data.precision = options.precision;
  return data;
}

std::vector<double> read_npy_vector(Source& source) {
  const NpyHeader header = parse_npy_header(source.text(), source.name());
  if (header.columns() != 1) {
    throw Error(Fault::input, fmt::format("{}: an array of shape ({}, {}) is not one number a row", source.name(),
                                          header.rows(), header.columns()));
  }
  return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                    npy_values(source, header, Precision::f64));
}

void write_npy(Sink& out, const Dataset& data) {
  std::visit([&](const auto& matrix) { write_npy_rows(out, matrix); }, data.matrix());
}

void write_npy_vector(Sink& out, std::span<const double> numbers) {
  out.write(npy_header_text(sizeof(double), {numbers.size()}));
  write_in_order(out, numbers.size(), items_in_block(numbers.size(), numbers.size()),
                 [&](TextBlock& block, std::size_t begin, std::size_t end) {
                   std::vector<double> part(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                                            numbers.begin() + static_cast<std::ptrdiff_t>(end));
                   add_little_endian(block, std::span(part));
                 });
}

}  // namespace fenchel::data
