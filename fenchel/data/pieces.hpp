// Text in pieces of whole lines, worked on by several threads: a text in memory is cut where it lies; a stream is
// read (and decompressed) by one thread while the others work on the pieces it has given already.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/tbb/parallel_pipeline.h>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/pages.hpp"
#include "fenchel/data/piece_bytes.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

// Where a line ends: at every newline, or only at those outside of double quotes.
enum class Lines { plain, quoted };

// Cuts text into consecutive pieces of about piece_bytes, each but the last ending with the end of a line.
std::vector<std::string_view> cut(std::string_view text, Lines lines = Lines::plain);

// The number of one character in a text.
std::size_t count_of(std::string_view text, char wanted);

// What is wrong in a piece, at an offset from its beginning.
struct Complaint {
  std::size_t offset = 0;
  std::string reason;
};

// Turns pieces of a stream into whole lines: what follows the last line end is kept for the next piece.
class PieceReader {
 public:
  PieceReader(Stream& stream, Lines lines) : stream_(stream), lines_(lines) {}

  struct Block {
    Pages pages;
    std::string_view text;
  };
  // The next piece, padded; nothing at the end.
  std::optional<Block> next();

 private:
  Stream& stream_;
  Lines lines_;
  std::string rest_;
  bool ended_ = false;
};

// Calls part = work(text) for every piece, in parallel, then take(std::move(part)) for every part in the order of the
// text, one at a time. A Part needs a member `std::optional<Complaint> complaint`; the first one in the order of the
// text is thrown as Error(Fault::input, "NAME:LINE:COLUMN: reason"), and its part is not taken. check(part) comes
// before that, in the same order, and may add a complaint that only the parts before it give reason for.
template <class Work, class Take, class Check>
void for_each_piece(Source& source, Lines lines, Work&& work, Take&& take, Check&& check) {
  using Part = std::decay_t<decltype(work(std::string_view{}))>;
  std::size_t lines_before = 0;
  const auto accept = [&](Part& part, std::string_view text) {
    check(part);
    if (part.complaint) {
      Place place = place_of(text, part.complaint->offset);
      place.line += lines_before;
      reject(source.name(), place, part.complaint->reason);
    }
    lines_before += count_of(text, '\n');
    take(std::move(part));
  };
  if (source.whole()) {
    const std::vector<std::string_view> pieces = cut(source.text(), lines);
    std::vector<std::optional<Part>> parts(pieces.size());
    parallel_for(pieces.size(), [&](std::size_t k) { parts[k].emplace(work(pieces[k])); });
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      accept(*parts[k], pieces[k]);
      parts[k].reset();
    }
    return;
  }
  struct Token {
    PieceReader::Block block;
    std::optional<Part> part;
  };
  // The tokens belong to us and only pointers travel: the pipeline forgets what was on its way when something throws.
  // They are delivered in order, so that one is free again before as many others have followed.
  constexpr std::size_t in_flight = 8;
  std::array<Token, in_flight> tokens;
  std::size_t begun = 0;
  using oneapi::tbb::filter_mode;
  PieceReader reader(source.stream(), lines);
  const auto read = [&](oneapi::tbb::flow_control& control) -> Token* {
    auto block = reader.next();
    if (!block) {
      control.stop();
      return nullptr;
    }
    Token& token = tokens[begun++ % in_flight];
    token.block = std::move(*block);
    return &token;
  };
  const auto parse = [&](Token* token) {
    token->part.emplace(work(token->block.text));
    return token;
  };
  const auto deliver = [&](Token* token) {
    accept(*token->part, token->block.text);
    *token = {};
  };
  oneapi::tbb::parallel_pipeline(in_flight,
                                 oneapi::tbb::make_filter<void, Token*>(filter_mode::serial_in_order, read) &
                                     oneapi::tbb::make_filter<Token*, Token*>(filter_mode::parallel, parse) &
                                     oneapi::tbb::make_filter<Token*, void>(filter_mode::serial_in_order, deliver));
}

template <class Work, class Take>
void for_each_piece(Source& source, Lines lines, Work&& work, Take&& take) {
  for_each_piece(source, lines, std::forward<Work>(work), std::forward<Take>(take), [](const auto&) {});
}

}  // namespace fenchel::data
