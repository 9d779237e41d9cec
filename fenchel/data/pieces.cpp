#include "fenchel/data/pieces.hpp"

#include <cstring>

namespace fenchel::data {

namespace {

bool odd_quotes(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 != 0; }

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

// One behind the last line end in text; 0 if it has none.
std::size_t last_line_end(std::string_view text, Lines lines) {
  std::size_t newline = text.rfind('\n');
  if (lines == Lines::quoted) {
    while (newline != std::string_view::npos && odd_quotes(text.substr(0, newline))) {
      newline = newline == 0 ? std::string_view::npos : text.rfind('\n', newline - 1);
    }
  }
  return newline == std::string_view::npos ? 0 : newline + 1;
}

}  // namespace

std::vector<std::string_view> cut(std::string_view text, Lines lines) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end =
        text.size() <= piece_bytes ? text.size() : end_of_line(text, piece_bytes - 1, lines);
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
    return Block{std::move(pages), {text(), end}};
  }
}

}  // namespace fenchel::data
