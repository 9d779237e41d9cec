#include "fenchel/data/pieces.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace fenchel::data {

namespace {

bool odd_quotes(std::string_view text) { return count_of(text, '"') % 2 != 0; }

// One behind the end of the line that text[from] lies in; text.size() if it has no end. `open`: text begins within
// double quotes.
std::size_t end_of_line(std::string_view text, std::size_t from, Lines lines) {
  bool open = lines == Lines::quoted && odd_quotes(text.substr(0, from));
  while (true) {
    const std::size_t newline = text.find('\n', from);
    if (newline == std::string_view::npos) return text.size();
    if (lines == Lines::quoted) open ^= odd_quotes(text.substr(from, newline - from));
    from = newline + 1;
    if (!open) return from;
  }
}

// One behind the last line end in text; 0 if it has none. Each byte is looked at once or twice, however many quotes
// and lines there are.
std::size_t last_line_end(std::string_view text, Lines lines) {
  if (lines == Lines::plain) return text.rfind('\n') + 1;  // npos + 1 is 0
  std::size_t last = 0;
  bool open = false;
  for (std::size_t from = 0; from <= text.size(); open = !open) {
    const std::size_t quote = std::min(text.find('"', from), text.size());
    const std::size_t newline = open ? std::string_view::npos : text.substr(from, quote - from).rfind('\n');
    if (newline != std::string_view::npos) last = from + newline + 1;
    from = quote + 1;
  }
  return last;
}

}  // namespace

// Counts in bytes, many of which a compiler adds at once.
std::size_t count_of(std::string_view text, char wanted) {
  constexpr std::size_t lanes = 64;
  constexpr std::size_t most = 255;  // of a byte
  std::size_t total = 0;
  while (text.size() >= lanes) {
    std::array<std::uint8_t, lanes> counts{};
    const std::size_t rounds = std::min(most, text.size() / lanes);
    for (std::size_t r = 0; r < rounds; ++r) {
      const char* const at = text.data() + r * lanes;
      for (std::size_t i = 0; i < lanes; ++i) counts[i] = static_cast<std::uint8_t>(counts[i] + (at[i] == wanted));
    }
    for (const std::uint8_t count : counts) total += count;
    text.remove_prefix(rounds * lanes);
  }
  return total + static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
}

std::vector<std::string_view> cut(std::string_view text, Lines lines) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = text.size() <= piece_bytes ? text.size() : end_of_line(text, piece_bytes - 1, lines);
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return pieces;
}

std::optional<PieceReader::Block> PieceReader::next() {
  if (ended_) return std::nullopt;
  std::size_t filled = rest_.size();
  Pages pages(filled + piece_bytes + padding);
  const auto text = [&] { return reinterpret_cast<char*>(pages.data()); };
  std::memcpy(text(), rest_.data(), filled);
  while (true) {
    const std::size_t room = pages.size() - padding - filled;
    const std::size_t got = stream_.read({text() + filled, room});
    filled += got;
    ended_ = got < room;
    const std::size_t end = ended_ ? filled : last_line_end({text(), filled}, lines_);
    if (end == 0 && !ended_) {  // a line longer than what was read so far
      pages.grow(2 * pages.size());
      continue;
    }
    rest_.assign(text() + end, filled - end);
    std::memset(text() + end, 0, std::min(filled - end, padding));
    if (end == 0) return std::nullopt;
    const std::string_view whole_lines(text(), end);
    return Block{std::move(pages), whole_lines};
  }
}

}  // namespace fenchel::data
