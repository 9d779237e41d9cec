// Text in pieces of whole lines, worked on by several threads: a text in memory is cut where it lies; a stream is
// read (and decompressed) by one thread while the others work on the pieces it has given already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "fenchel/data/pages.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

// Large enough that a piece's overhead does not count, small enough for the cache between two looks at it.
inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;

// Where a line ends: at every newline, or only at those outside of double quotes.
enum class Lines { plain, quoted };

// Cuts text into consecutive pieces of about piece_bytes, each but the last ending with the end of a line.
std::vector<std::string_view> cut(std::string_view text, Lines lines = Lines::plain);

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
// text is thrown as Error(Fault::input, "NAME:LINE:COLUMN: reason"), and its part is not taken.
template <class Work, class Take>
void for_each_piece(Source& source, Lines lines, Work&& work, Take&& take) {
  std::size_t lines_before = 0;
  const auto accept = [&](auto&& part, std::string_view text, bool last_look) {
    if (part.complaint) {
      Place place = place_of(text, part.complaint->offset);
      place.line += lines_before;
      reject(source.name(), place, part.complaint->reason);
    }
    if (last_look) lines_before += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    take(std::forward<decltype(part)>(part));
  };
  using Part = std::decay_t<decltype(work(std::string_view{}))>;
  if (source.whole()) {
    const std::vector<std::string_view> pieces = cut(source.text(), lines);
    std::vector<std::optional<Part>> parts(pieces.size());
    oneapi::tbb::parallel_for(std::size_t{0}, pieces.size(), [&](std::size_t k) { parts[k].emplace(work(pieces[k])); });
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const auto offset = static_cast<std::size_t>(pieces[k].data() - source.text().data());
      if (parts[k]->complaint) {
        reject(source.text(), source.name(), offset + parts[k]->complaint->offset, parts[k]->complaint->reason);
      }
      accept(std::move(*parts[k]), pieces[k], false);
      parts[k].reset();
    }
    return;
  }
  PieceReader reader(source.stream(), lines);
  struct Done {
    PieceReader::Block block;
    std::optional<Part> part;
  };
  using Token = std::shared_ptr<Done>;
  constexpr std::size_t in_flight = 8;
  using oneapi::tbb::filter_mode;
  oneapi::tbb::parallel_pipeline(
      in_flight, oneapi::tbb::make_filter<void, Token>(filter_mode::serial_in_order,
                                                       [&](oneapi::tbb::flow_control& control) -> Token {
                                                         auto block = reader.next();
                                                         if (!block) {
                                                           control.stop();
                                                           return {};
                                                         }
                                                         return std::make_shared<Done>(Done{std::move(*block), {}});
                                                       }) &
                     oneapi::tbb::make_filter<Token, Token>(filter_mode::parallel,
                                                            [&](Token token) {
                                                              token->part.emplace(work(token->block.text));
                                                              return token;
                                                            }) &
                     oneapi::tbb::make_filter<Token, void>(filter_mode::serial_in_order, [&](const Token& token) {
                       accept(std::move(*token->part), token->block.text, true);
                     }));
}

}  // namespace fenchel::data
