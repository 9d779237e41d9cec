// The JSON header of a model file: everything of a model except its long arrays, which it lists. For file.cpp only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/model/model.hpp"

namespace fenchel::model {

struct ArrayEntry {
  std::string name;
  bool sparse = false;
  std::uint64_t count = 0;   // entries of the array
  std::uint64_t stored = 0;  // entries in the file
  std::uint64_t offset = 0;  // from the end of the header, in bytes
};

std::string write_header(const Model& model, std::span<const ArrayEntry> arrays);

struct Header {
  Model model;  // without arrays
  std::vector<ArrayEntry> arrays;
};
// Throws Error(Fault::input, reason), without a name.
Header read_header(std::string_view text);

// What makes a model unfit for a file, in one phrase: numbers that are not finite, parts that do not fit together.
std::optional<std::string> flaw(const Model& model);

}  // namespace fenchel::model
