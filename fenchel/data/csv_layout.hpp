// What a table's first record and the options say about all of its records: how many cells they have and what each column is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data::csv {

enum class Role : std::uint8_t { feature, label, dropped };

struct Layout {
  char separator = ',';
  std::vector<Role> roles;         // one a column
  std::size_t features = 0;        // columns that are features
  std::vector<std::string> names;  // one a column; empty if the first record holds numbers already
  std::string header;              // the bytes of the comments and names before the first row, line ends included
  std::string remark;              // what was guessed, for the user
  bool sparse = false;             // few of the cells at the beginning are nonzero

  // "column 3" or "column 3 ('age')", for messages; columns count from 0 here and from 1 there.
  [[nodiscard]] std::string describe(std::size_t column) const;
};

// Looks at the beginning of the source and takes nothing away from it.
Layout find_layout(Source& source, const ReadOptions& options, char separator);

}  // namespace fenchel::data::csv
