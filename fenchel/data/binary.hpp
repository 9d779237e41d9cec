// The binary form of a data set (.fbin): mapped, not read. Opening checks the header and the section table. The matrix is
// checked block by block, by the first pass that touches a block and before its values are used, the labels as a whole
// when they are first looked at.
//
// Everything is little-endian. The first 4096 bytes are the header:
//
//     byte  0  8 characters  "FENCHELB"
//           8  u32           0x01020304, which tells the byte order
//          12  u32           version of the format, 1
//          16  u64           checksum of bytes 24 to 4095
//          24  u64           size of the file
//          32  u64           rows, at least 1
//          40  u64           columns
//          48  u64           stored values: nonzeros of sparse rows, rows x columns of dense ones
//          56  u64           stored values of the column form; 0 without one
//          64  u64           rows in a block, a power of two of at most 4096
//          72  u64           columns in a block of the column form, likewise; 0 without one
//          80  u32           flags: 1 sparse, 2 values are float32 (else float64), 4 the problem is about float32
//                            (--precision f32), 8 the text counted columns from 1, 16 targets, 32 qids, 64 column form
//          84  u32           number of sections
//          88  24 bytes each u32 kind, u32 zero, u64 offset in the file, u64 bytes
//              zeros
//
// Sections follow in the order of their kinds, each at the next multiple of 4096 bytes, zeros in between; the file
// ends with the last one. Those that a file has no use for are absent:
//
//      1 targets           f64 a row
//      2 qids              i64 a row
//      3 label checksums   u64 for every 65536 rows of targets and qids
//      4 row offsets       u64, rows + 1 of them: entries of row i are [offset i, offset i + 1); sparse only
//      5 columns           u32 an entry, from 0, ascending within a row; sparse only
//      6 values            f32 or f64 an entry, finite and, in sparse rows, not 0
//      7 row checksums     u64 a block of rows
//      8 column offsets    9 rows (u32)    10 values    11 column checksums: the column form, with zeros left out
//
// A checksum is the XXH3-64 of u64 words: the kind of the section it stands in, the number of the block from 0, and the
// XXH3-64 of the block's part of each of its sections, in their order. An offset at the border of two blocks is
// part of both.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

[[nodiscard]] bool is_binary(std::string_view head);

// Uses the file in place and in constant time. Only --precision f32 for values that are no floats makes a copy.
Dataset read_binary(Source& source, const ReadOptions& options);

struct BinaryOptions {
  bool columns = false;  // store the column form too
};
void write_binary(Sink& out, const Dataset& data, const BinaryOptions& options = {});

// Checks everything that is left to check of a mapped data set: all blocks, that both forms hold the same matrix, and the
// zeros between the sections. Data of any other origin were checked when they were read.
void verify(const Dataset& data);

struct BinarySection {
  std::string_view name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
// The sections of a mapped data set; empty for data of any other origin.
[[nodiscard]] std::vector<BinarySection> binary_sections(const Dataset& data);

}  // namespace fenchel::data
