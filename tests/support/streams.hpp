// Text that comes as a stream, a few bytes at a time, as from a slow pipe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fenchel/data/source.hpp"

namespace fenchel::test {

class TextStream final : public data::Stream {
 public:
  TextStream(std::string text, std::size_t at_once) : text_(std::move(text)), at_once_(at_once) {}

 private:
  std::size_t more(std::span<char> into) override {
    const std::size_t count = std::min({into.size(), at_once_, text_.size() - given_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(given_), count, into.begin());
    given_ += count;
    return count;
  }

  std::string text_;
  std::size_t at_once_;
  std::size_t given_ = 0;
};

inline data::Source stream_of(std::string_view text, std::string name, std::size_t at_once = 1000) {
  return data::Source::of_stream(std::make_unique<TextStream>(std::string(text), at_once), std::move(name));
}

}  // namespace fenchel::test
