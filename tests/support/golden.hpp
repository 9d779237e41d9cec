// The golden vectors of tests/golden, which were computed outside this library.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#if !defined(FENCHEL_GOLDEN_DIR) && defined(FENCHEL_SOURCE_DIR)
#define FENCHEL_GOLDEN_DIR FENCHEL_SOURCE_DIR "/tests/golden"
#endif

namespace fenchel::test {

inline nlohmann::json golden(const std::string& file) {
  const std::string path = std::string(FENCHEL_GOLDEN_DIR) + "/" + file;
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot open " + path);
  return nlohmann::json::parse(stream);
}

}  // namespace fenchel::test
