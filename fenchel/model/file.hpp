// Model files. Versioned, self-describing and checksummed; all numbers little-endian:
//
//     8 bytes   "fenchel\x1a"
//     u32       format version;  u32  0;  u64  length of the header
//     header    a JSON object, padded with blanks to a multiple of 8 bytes: settings, what the data were, each output's
//               certificate (hexadecimal floats are authoritative), and the table of arrays
//     arrays    8-byte aligned, one behind the other: `dense` is doubles, `sparse` is the ascending positions of what is
//               not zero (u32, or u64 from 2^32 entries on; padded to 8 bytes) and then their doubles
//     u64 u64   low and high word of the XXH3-128 of everything before
//
// Arrays are sparse where that is smaller. What a file expands to is bounded by its size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fenchel/model/model.hpp"

namespace fenchel::model {

inline constexpr std::uint32_t format_version = 1;

// Whether the bytes begin like a model file.
bool is_model(std::string_view bytes);

// A model with numbers that are not finite is Error(Fault::failure): it could not be read back.
std::string serialize(const Model& model);
// Every problem is Error(Fault::input, "NAME: reason").
Model deserialize(std::string_view bytes, const std::string& name);

// Atomic; Error(Fault::failure, "PATH: cannot write: reason").
void save(const Model& model, const std::string& path);
Model load(const std::string& path);

}  // namespace fenchel::model
