#include "fenchel/data/npy_header.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/npy.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/svmlight.hpp"

namespace fenchel::data {

namespace {

// A dictionary literal of Python with three keys: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      value(key);
      if (accept('}')) break;
      expect(',');
    }
    skip_blanks();
    if (!text_.empty()) fail("the dictionary to end");
    if (!descr_) missing("descr");
    if (!fortran_) missing("fortran_order");
    if (!shape_) missing("shape");
    NpyHeader header;
    set_type(header);
    header.fortran = *fortran_;
    header.shape = std::move(*shape_);
    return header;
  }

 private:
  void value(std::string_view key) {
    if (key == "descr") {
      skip_blanks();
      if (text_.starts_with('[')) refuse_type("a structured type");
      once(descr_, key) = string();
    } else if (key == "fortran_order") {
      once(fortran_, key) = boolean();
    } else if (key == "shape") {
      once(shape_, key) = tuple();
    } else {
      refuse(fmt::format("its header has the unknown key {}", quote(key)));
    }
  }

  template <class T>
  std::optional<T>& once(std::optional<T>& field, std::string_view key) const {
    if (field) refuse(fmt::format("its header has the key {} twice", quote(key)));
    return field;
  }

  std::string_view string() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) fail("a string");
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) fail("a string");
    const std::string_view content = text_.substr(1, end - 1);
    if (content.find('\\') != std::string_view::npos) fail("a string without escapes");
    text_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, meaning] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return meaning;
    }
    fail("True or False");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(number());
      if (accept(')')) {
        if (numbers.size() == 1) fail("a tuple, which (3) is not but (3,) is,");  // as in Python
        break;
      }
      expect(',');
    }
    return numbers;
  }

  std::size_t number() {
    skip_blanks();
    std::size_t result = 0;
    const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), result);
    if (code != std::errc{}) fail("a length");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2 wrote long integers so
    return result;
  }

  void set_type(NpyHeader& header) const {
    const std::string_view type = *descr_;
    constexpr std::string_view known[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
    const bool marked = !type.empty() && std::string_view("<>|=").find(type.front()) != std::string_view::npos;
    const std::string_view plain = marked ? type.substr(1) : type;
    if (std::find(std::begin(known), std::end(known), plain) == std::end(known)) refuse_type(quote(type));
    header.kind = plain[0];
    header.width = static_cast<std::size_t>(plain[1] - '0');
    const char order = marked ? type.front() : '=';
    const bool little = std::endian::native == std::endian::little;
    header.swapped = header.width > 1 && (order == (little ? '>' : '<'));
    if (header.width > 1 && order == '|') refuse_type(quote(type));
  }

  // --- refusals ---

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(Fault::input, fmt::format("{}: {}", name_, reason));
  }
  [[noreturn]] void fail(std::string_view expected) const {
    refuse(fmt::format("its npy header is malformed: {} is expected before {}", expected,
                       text_.empty() ? "its end" : quote(text_)));
  }
  [[noreturn]] void missing(std::string_view key) const { refuse(fmt::format("its npy header lacks '{}'", key)); }
  [[noreturn]] void refuse_type(const std::string& type) const {
    refuse(fmt::format("holds {} where plain numbers are needed: save it in NumPy with x.astype('f8')", type));
  }

  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
  bool accept(char c) {
    skip_blanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }

  std::string_view text_;
  const std::string& name_;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_;
  std::optional<std::vector<std::size_t>> shape_;
};

// The bytes that the shape needs; nothing where their number overflows.
std::optional<std::size_t> npy_bytes(const NpyHeader& header) {
  std::size_t bytes = header.width;
  for (const std::size_t length : header.shape) {
    if (length != 0 && bytes > std::numeric_limits<std::size_t>::max() / length) return std::nullopt;
    bytes *= length;
  }
  return bytes;
}

void check_npy_shape(const NpyHeader& header, std::size_t have, const std::string& name) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(Fault::input, fmt::format("{}: {}", name, reason));
  };
  const std::string shape =
      fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  if (header.shape.empty() || header.shape.size() > 2) {
    refuse(fmt::format("an array of shape {} is no matrix: save it with two dimensions, rows and columns", shape));
  }
  if (header.rows() == 0) refuse("holds no rows");
  if (header.columns() == 0) refuse("holds no columns");
  if (header.columns() > largest_index) {
    refuse(fmt::format("has {} columns: at most {} are possible", header.columns(), largest_index));
  }
  const std::optional<std::size_t> need = npy_bytes(header);
  if (!need || *need > have) {
    refuse(fmt::format("is truncated: an array of shape {} needs {} bytes, but {} follow the header", shape,
                       need ? fmt::format("{}", *need) : "more than 2^64", have));
  }
  if (*need < have) {
    refuse(
        fmt::format("{} bytes follow the numbers, which an array of shape {} does not have", have - *need, shape));
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(Fault::input, fmt::format("{}: {}", name, reason));
  };
  if (!bytes.starts_with(npy_magic)) refuse("is not in NumPy's npy format");
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(bytes[at])}; };
  const std::size_t version_at = npy_magic.size(), length_at = version_at + 2;
  if (bytes.size() < length_at) refuse("is truncated within its npy header");
  const std::size_t version = byte(version_at);
  if (version < 1 || version > 3 || byte(version_at + 1) != 0) {
    refuse(fmt::format("is of npy version {}.{}; 1.0, 2.0 and 3.0 are known", version, byte(version_at + 1)));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = length_at + length_bytes;
  if (bytes.size() < begin) refuse("is truncated within its npy header");
  std::size_t length = 0;
  for (std::size_t k = length_bytes; k > 0; --k) length = 256 * length + byte(length_at + k - 1);
  if (bytes.size() - begin < length) refuse("is truncated within its npy header");
  NpyHeader header = NpyDictionary(bytes.substr(begin, length), name).parse();
  header.size = begin + length;
  check_npy_shape(header, bytes.size() - header.size, name);
  return header;
}

std::string npy_header_text(std::size_t width, const std::vector<std::size_t>& shape) {
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}{}), }}", width,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t alignment = 64;
  const std::size_t before = npy_magic.size() + 4;  // version and length
  header.resize((before + header.size() + alignment) / alignment * alignment - before - 1, ' ');
  header += '\n';
  std::string text(npy_magic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(header.size() % 256);
  text += static_cast<char>(header.size() / 256);
  return text + header;
}

}  // namespace fenchel::data
