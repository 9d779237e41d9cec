// Equal rows against comparing every pair of rows.
#include "fenchel/data/equal_rows.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <vector>

#include "fenchel/data/linear_map.hpp"
#include "fenchel/data/residence.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

constexpr Storage all_storages[] = {Storage::csr64, Storage::dense64, Storage::csr32, Storage::dense32};

// `n` rows of which about `distinct` differ; some are empty, and some differ in their label only.
Case repeating(std::size_t n, std::size_t distinct, Storage storage, std::uint64_t seed) {
  Random random(seed);
  Case setup{.rows = {}, .labels = {}, .storage = storage};
  for (std::size_t i = 0; i < n; ++i) {
    Random own(1000 + random.below(distinct));
    std::vector<double> row(5);
    for (double& x : row) x = own.uniform() < 0.5 ? 0.0 : static_cast<double>(own.below(3)) + 0.25;
    setup.rows.push_back(row);
    setup.labels.push_back(static_cast<double>(random.below(2)));
  }
  return setup;
}

bool same(const Case& setup, std::size_t i, std::size_t k) {
  return setup.labels[i] == setup.labels[k] && setup.rows[i] == setup.rows[k];
}

std::vector<std::uint32_t> first_equal(const Case& setup) {
  std::vector<std::uint32_t> first;
  for (std::size_t i = 0; i < setup.rows.size(); ++i) {
    std::size_t k = 0;
    while (!same(setup, i, k)) ++k;
    first.push_back(static_cast<std::uint32_t>(k));
  }
  return first;
}

void expect_exact(const Case& setup, const data::EqualRows& found) {
  const std::vector<std::uint32_t> expected = first_equal(setup);
  ASSERT_EQ(found.place.size(), expected.size());
  EXPECT_TRUE(std::ranges::is_sorted(found.first));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found.first[found.place[i]], expected[i]) << i;
}

TEST(EqualRows, AreThoseOfEveryPair) {
  for (const Storage storage : all_storages) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Case setup = repeating(1 + 7 * seed, 1 + seed, storage, seed);
      const data::Dataset dataset = dataset_of(setup);
      expect_exact(setup, data::find_equal_rows(dataset.matrix(), dataset.targets));
    }
  }
}

TEST(EqualRows, NothingIsEqualButBits) {
  Case setup{.rows = {{0.0, 1.0}, {-0.0, 1.0}, {0.0, 1.0}}, .labels = {1.0, 1.0, 1.0}, .storage = Storage::dense64};
  const data::Dataset dense = dataset_of(setup);
  EXPECT_EQ(data::find_equal_rows(dense.matrix(), dense.targets).place, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(data::find_equal_rows(dense.matrix(), std::vector{0.0, 0.0, -0.0}).first.size(), 3u);
  // The same values in other columns.
  setup = {.rows = {{2.0, 0.0}, {0.0, 2.0}, {0.0, 0.0}, {0.0, 0.0}}, .labels = {1.0, 1.0, 1.0, 1.0}};
  const data::Dataset sparse = dataset_of(setup);
  EXPECT_EQ(data::find_equal_rows(sparse.matrix(), sparse.targets).place, (std::vector<std::uint32_t>{0, 1, 2, 2}));
  EXPECT_TRUE(data::find_equal_rows(data::Dataset{}.matrix(), {}).first.empty());
}

// What a collision of hashes would lead to.
TEST(EqualRows, WrongGuessesAreTakenApart) {
  for (const Storage storage : all_storages) {
    const Case setup = repeating(40, 4, storage, 3);
    const data::Dataset dataset = dataset_of(setup);
    const data::EqualRows found =
        data::confirmed(dataset.matrix(), dataset.targets, {.first = {0, 1}, .place = [] {
                                                              std::vector<std::uint32_t> place(40, 0);
                                                              for (std::size_t i = 1; i < 40; i += 2) place[i] = 1;
                                                              return place;
                                                            }()});
    EXPECT_TRUE(std::ranges::is_sorted(found.first));
    EXPECT_GT(found.first.size(), 2u);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::uint32_t other = found.first[found.place[i]];
      EXPECT_TRUE(same(setup, i, other));
      EXPECT_EQ(other, same(setup, i, i % 2) ? i % 2 : i);
      kept += other != i ? 1 : 0;
    }
    EXPECT_GT(kept, 0u);
  }
}

TEST(EqualRows, ASampleTellsManyFromNone) {
  for (const std::size_t n : {5000u, 60000u}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(seed);
      std::vector<double> numbers(n);
      for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<double>(i);
      bool shuffled = true;  // or copies side by side
      const auto repeats = [&](std::size_t copies) {
        std::vector<double> rows(n);
        for (std::size_t i = 0; i < n; ++i) rows[i] = numbers[i / copies] + 1.0;
        if (shuffled) random.shuffle(std::span(rows));
        const data::DenseRows<double> view{rows, n, 1};
        return data::sample_repeats(view, std::vector<double>(n, 1.0));
      };
      for (const bool order : {true, false}) {
        shuffled = order;
        EXPECT_FALSE(repeats(1));
        EXPECT_TRUE(repeats(3));
        EXPECT_TRUE(repeats(100));
        EXPECT_TRUE(repeats(n));
      }
    }
  }
}

TEST(EqualRows, ChosenRowsAreTheRows) {
  for (const Storage storage : all_storages) {
    const Case setup = repeating(50, 5, storage, 9);
    const data::Dataset dataset = dataset_of(setup);
    const std::vector<std::uint32_t> list{3, 4, 17, 49};
    Case part{.rows = {}, .labels = {}, .storage = storage};
    for (const std::uint32_t i : list) part.rows.push_back(setup.rows[i]);
    data::ChosenRows first(dataset.matrix(), list);
    const data::ChosenRows chosen = std::move(first);  // views hold
    const data::Dataset expected = dataset_of(part);
    EXPECT_EQ(data::bytes_of_rows(dataset.matrix(), list), data::bytes_of(chosen.matrix()));
    ASSERT_EQ(chosen.matrix().index(), expected.matrix().index());
    ASSERT_EQ(data::rows(chosen.matrix()), list.size());
    ASSERT_EQ(data::cols(chosen.matrix()), data::cols(expected.matrix()));
    ASSERT_EQ(data::nonzeros(chosen.matrix()), data::nonzeros(expected.matrix()));
    const auto entries = [](const data::Matrix& matrix) {
      std::vector<std::vector<double>> all;
      std::visit(
          [&](const auto& rows) {
            for (std::size_t i = 0; i < rows.rows(); ++i) {
              all.emplace_back();
              rows.row(i).for_each([&](std::size_t j, double x) {
                all.back().push_back(static_cast<double>(j));
                all.back().push_back(x);
              });
            }
          },
          matrix);
      return all;
    };
    EXPECT_EQ(entries(chosen.matrix()), entries(expected.matrix()));
  }
}

// Narrow rows, and rows so wide that X'a is summed in bands.
TEST(EqualRows, ProductsWithChosenRowsHaveTheBitsOfACopy) {
  for (const std::uint32_t columns : {30u, 40000u}) {
    Random random(columns);
    std::vector<std::uint32_t> list, entries, chosen_entries;
    std::vector<double> values, chosen_values;
    std::vector<std::uint64_t> offsets{0}, chosen_offsets{0};
    for (std::uint32_t i = 0; i < 300; ++i) {
      const bool chosen = i % 3 == 1;
      if (chosen) list.push_back(i);
      for (std::uint32_t j = 0; j < columns; j += columns / 200 + 1 + static_cast<std::uint32_t>(random.below(3))) {
        entries.push_back(j);
        values.push_back(random.normal());
        if (chosen) {
          chosen_entries.push_back(j);
          chosen_values.push_back(values.back());
        }
      }
      offsets.push_back(entries.size());
      if (chosen) chosen_offsets.push_back(chosen_entries.size());
    }
    const data::Matrix all =
        data::CsrRows<double>{.offsets = offsets, .columns = entries, .values = values, .column_count = columns};
    const data::Matrix copy = data::CsrRows<double>{
        .offsets = chosen_offsets, .columns = chosen_entries, .values = chosen_values, .column_count = columns};
    const data::ChosenRows chosen(all, list);
    EXPECT_EQ(data::bytes_of(chosen.matrix()), data::bytes_of(copy));
    data::LinearMap one({.matrix = chosen.matrix()}), other({.matrix = copy});
    std::vector<double> w(columns), beta(list.size()), u(columns), v(columns), x(columns), y(columns);
    for (double& number : w) number = random.normal();
    for (double& number : beta) number = random.normal();
    std::vector<double> z(list.size()), t(list.size());
    one.margins(w, z);
    other.margins(w, t);
    EXPECT_EQ(z, t);
    one.adjoint(beta, u);
    other.adjoint(beta, v);
    EXPECT_EQ(u, v);
    one.adjoint(beta, u, x);
    other.adjoint(beta, v, y);
    EXPECT_EQ(u, v);
    EXPECT_EQ(x, y);
  }
}

TEST(EqualRowsParallel, TheSameForAnyThreadCount) {
  const Case setup = repeating(3 * 4096 + 5, 200, Storage::csr64, 1);
  const data::Dataset dataset = dataset_of(setup);
  std::vector<data::EqualRows> found;
  for (const std::size_t threads : {1, 4}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    found.push_back(data::find_equal_rows(dataset.matrix(), dataset.targets));
    EXPECT_TRUE(data::sample_repeats(dataset.matrix(), dataset.targets));
  }
  EXPECT_EQ(found[0].first, found[1].first);
  EXPECT_EQ(found[0].place, found[1].place);
}

}  // namespace
}  // namespace fenchel::test
