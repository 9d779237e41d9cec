// Data sets for the tests of the binary form, and how they look at files of it.
#pragma once

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/binary_layout.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data {

inline std::string stored(const Dataset& data, const BinaryOptions& options = {}) {
  StringSink sink;
  write_binary(sink, data, options);
  return sink.text();
}

inline Dataset opened(std::string_view text, const ReadOptions& options = {}) {
  Source source = Source::of_text(text, "f.fbin");
  return read_binary(source, options);
}

// The sentence of the Error(Fault::input) that this must throw.
inline std::string complaint(const std::function<void()>& act) {
  const std::string sentence = test::refusal(Fault::input, act);
  EXPECT_TRUE(sentence.starts_with("f.fbin: ")) << sentence;
  return sentence;
}
inline std::string refusal(std::string_view text) {
  return complaint([&] { opened(text); });
}
inline std::string damage(std::string_view text) {
  return complaint([&] { verify(opened(text)); });
}

inline void expect_says(const std::string& sentence, std::string_view words) {
  EXPECT_NE(sentence.find(words), std::string::npos) << sentence << "\nlacks: " << words;
}

template <class T>
inline bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
inline bool same_bits(const Values& a, const Values& b) {
  return a.index() == b.index() &&
         std::visit([&]<class A>(const A& values) { return same_bits(values, std::get<A>(b)); }, a);
}

inline void expect_same(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.storage.index(), b.storage.index());
  EXPECT_TRUE(same_bits(a.targets, b.targets));
  EXPECT_TRUE(same_bits(a.query, b.query));
  EXPECT_EQ(a.index_base, b.index_base);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(cols(a.matrix()), cols(b.matrix()));
  std::visit(
      [&](const auto& s) {
        EXPECT_TRUE(same_bits(s.values, std::get<std::decay_t<decltype(s)>>(b.storage).values));
      },
      a.storage);
  if (const auto* const csr = std::get_if<CsrStorage>(&a.storage)) {
    EXPECT_TRUE(same_bits(csr->offsets, std::get<CsrStorage>(b.storage).offsets));
    EXPECT_TRUE(same_bits(csr->columns, std::get<CsrStorage>(b.storage).columns));
  }
}

// 4 x 5, with an empty row and an empty last column.
inline Dataset sparse_sample() {
  return {
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 2, 2, 5, 6}, std::vector<std::uint32_t>{0, 3, 0, 1, 2, 3},
                            std::vector<double>{0.1, 2, -3, 5e-324, 1.7e308, 6}, 5},
      .targets = std::vector<double>{1, -1, 0.5, -0.0},
      .query = std::vector<std::int64_t>{3, 3, 1, std::numeric_limits<std::int64_t>::max()}};
}

inline Dataset dense_sample() {
  return {.storage = DenseStorage{std::vector<float>{1, 0, -0.0F, 4, 5.5F, 1e-45F}, 2, 3},
          .targets = std::vector<double>{1, 2},
          .query = {},
          .index_base = 0,
          .precision = Precision::f32};
}

// Three blocks of rows.
inline Dataset long_sample() {
  constexpr std::size_t n = 10000;
  Random random(7);
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::vector<double> targets;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < 40; ++j) {
      if (random.below(10) != 0) continue;
      columns.push_back(j);
      values.push_back(static_cast<float>(1 + random.below(1000)) / 7);
    }
    offsets.push_back(columns.size());
    targets.push_back(static_cast<double>(random.below(2)));
  }
  return {.storage = CsrStorage{offsets, columns, values, 40}, .targets = targets, .query = {}};
}

inline std::size_t at(std::string_view text, SectionKind kind, std::size_t byte = 0) {
  return decode_header(text, "at").find(kind)->offset + byte;
}

inline double sum_of_row(const Dataset& data, std::size_t i) {
  double sum = 0.0;
  std::visit([&](const auto& m) { m.row(i).for_each([&](std::size_t, double x) { sum += x; }); }, data.matrix());
  return sum;
}

}  // namespace fenchel::data
