#include "fenchel/data/svmlight.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/svmlight_rows.hpp"

namespace fenchel::data {

namespace {

// What the pieces of a text agree on, gathered in their order.
class Agreement {
 public:
  // The complaint of the rows, if any, or that their qid is not like that of the rows before.
  std::optional<Complaint> add(const ParsedRows& found, std::string_view text) {
    if (found.rows > 0 && rows_ > 0 && found.has_query != has_query_) {
      const Complaint mismatch = query_mismatch(text, found.first_row, found.has_query);
      if (!found.complaint || mismatch.offset < found.complaint->offset) return mismatch;
    }
    if (found.complaint) return found.complaint;
    if (rows_ == 0) has_query_ = found.has_query;
    rows_ += found.rows;
    entries_ += found.entries;
    index_end_ = std::max(index_end_, found.index_end);
    zero_seen_ |= found.zero_seen;
    return std::nullopt;
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }
  [[nodiscard]] std::size_t index_end() const { return index_end_; }
  [[nodiscard]] bool zero_seen() const { return zero_seen_; }
  [[nodiscard]] bool has_query() const { return has_query_; }

 private:
  std::size_t rows_ = 0, entries_ = 0, index_end_ = 0;
  bool zero_seen_ = false, has_query_ = false;
};

template <class Value>
struct RowBuffers {
  RowBuffers(const RowBounds& bounds, const std::string& spill)
      : targets(bounds.rows, spill),
        query(bounds.rows, spill),
        offsets(bounds.rows + 1, spill),
        columns(bounds.entries, spill),
        values(bounds.entries, spill) {}

  // The arrays from a row and an entry on.
  [[nodiscard]] RowArrays<Value> from(const RowBounds& place) const {
    return {.targets = targets.data() + place.rows,
            .query = query.data() + place.rows,
            .ends = offsets.data() + place.rows + 1,
            .columns = columns.data() + place.entries,
            .values = values.data() + place.entries};
  }
  // Moves rows and entries towards the front, where comments and zeros left a hole.
  void move(const RowBounds& from_place, const RowBounds& to_place, const ParsedRows& found) const {
    const RowArrays<Value> source = from(from_place), target = from(to_place);
    const auto shift = [](auto* to, const auto* from, std::size_t count) {
      if (to != from) std::memmove(to, from, count * sizeof *to);
    };
    shift(target.targets, source.targets, found.rows);
    if (found.has_query) shift(target.query, source.query, found.rows);
    shift(target.ends, source.ends, found.rows);
    shift(target.columns, source.columns, found.entries);
    shift(target.values, source.values, found.entries);
  }

  Buffer<double> targets;
  Buffer<std::int64_t> query;  // costs nothing until it is written to
  Buffer<std::uint64_t> offsets;
  Buffer<std::uint32_t> columns;
  Buffer<Value> values;
};

template <class Value>
Dataset finish(RowBuffers<Value>&& arrays, const Agreement& all, const ReadOptions& options,
               const std::string& name) {
  if (all.rows() == 0) throw Error(Fault::input, fmt::format("{}: holds no rows", name));
  Dataset data;
  data.index_base = options.index_base.value_or(all.zero_seen() ? 0 : 1);
  data.precision = options.precision;
  // Until here indexes were taken to start at 1 unless the options say 0.
  if (data.index_base != options.index_base.value_or(1)) {
    const std::span<std::uint32_t> columns = arrays.columns.span().first(all.entries());
    for (std::uint32_t& column : columns) ++column;
  }
  const auto base = static_cast<std::size_t>(data.index_base);
  data.targets = std::move(arrays.targets).freeze(all.rows());
  if (all.has_query()) data.query = std::move(arrays.query).freeze(all.rows());
  data.storage = CsrStorage{.offsets = std::move(arrays.offsets).freeze(all.rows() + 1),
                            .columns = std::move(arrays.columns).freeze(all.entries()),
                            .values = std::move(arrays.values).freeze(all.entries()),
                            .column_count = all.index_end() > 0 ? all.index_end() - base : 0};
  return data;
}

RowRules rules_of(const ReadOptions& options) {
  return {
      .index_base = options.index_base, .positive = options.positive, .round = options.precision == Precision::f32};
}

// --- a text in memory: counted, then parsed into place ---

class WholeText {
 public:
  WholeText(Source& source, const ReadOptions& options)
      : source_(source), options_(options), pieces_(cut(source.text())) {
    std::vector<RowBounds> bounds(pieces_.size());
    parallel_for(pieces_.size(), [&](std::size_t k) {
      will_need(pieces_[k]);
      bounds[k] = row_bounds(pieces_[k]);
    });
    for (const RowBounds& bound : bounds) {
      places_.push_back(total_);
      total_.rows += bound.rows;
      total_.entries += bound.entries;
    }
  }

  // In Value, or nothing if some number is not exact in it.
  template <class Value>
  std::optional<Dataset> parse() const {
    RowBuffers<Value> arrays(total_, options_.spill);
    const RowRules rules = rules_of(options_);
    std::vector<ParsedRows> found(pieces_.size());
    std::atomic<bool> inexact = false;
    parallel_for(pieces_.size(), [&](std::size_t k) {
      if (inexact.load(std::memory_order_relaxed)) return;
      found[k] = parse_rows(pieces_[k], rules, arrays.from(places_[k]));
      if (found[k].inexact) inexact.store(true, std::memory_order_relaxed);
      source_.finished(pieces_[k]);
    });
    if (inexact) return std::nullopt;

    Agreement all;
    std::vector<RowBounds> places;
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      places.push_back({all.rows(), all.entries()});
      if (const auto complaint = all.add(found[k], pieces_[k])) {
        const auto begin = static_cast<std::size_t>(pieces_[k].data() - source_.text().data());
        reject(source_.text(), source_.name(), begin + complaint->offset, complaint->reason);
      }
      arrays.move(places_[k], places[k], found[k]);
    }
    parallel_for(pieces_.size(), [&](std::size_t k) {
      std::uint64_t* const ends = arrays.from(places[k]).ends;
      for (std::size_t i = 0; i < found[k].rows; ++i) ends[i] += places[k].entries;
    });
    return finish(std::move(arrays), all, options_, source_.name());
  }

 private:
  Source& source_;
  const ReadOptions& options_;
  std::vector<std::string_view> pieces_;
  std::vector<RowBounds> places_;  // where a piece may begin to write
  RowBounds total_;
};

Dataset read_whole(Source& source, const ReadOptions& options) {
  const WholeText text(source, options);
  if (auto data = text.parse<float>()) return std::move(*data);
  return *text.parse<double>();
}

// --- a stream: pieces become parts, and parts are joined in the end ---

struct StreamPart {
  Values values;
  Array<double> targets;
  Array<std::int64_t> query;
  Array<std::uint64_t> ends;
  Array<std::uint32_t> columns;
  ParsedRows found;
  std::string_view text;  // gone once the part is taken
  std::optional<Complaint> complaint = {};
};

template <class Value>
StreamPart parse_part(std::string_view text, const RowRules& rules, const RowBounds& bounds) {
  RowBuffers<Value> arrays(bounds, {});
  StreamPart part;
  part.found = parse_rows(text, rules, arrays.from({}));
  part.targets = std::move(arrays.targets).freeze(part.found.rows);
  part.query = std::move(arrays.query).freeze(part.found.has_query ? part.found.rows : 0);
  part.ends = std::move(arrays.offsets).freeze(part.found.rows + 1);
  part.columns = std::move(arrays.columns).freeze(part.found.entries);
  part.values = std::move(arrays.values).freeze(part.found.entries);
  return part;
}

template <class Value>
Dataset join(std::vector<StreamPart>& parts, const Agreement& all, const ReadOptions& options,
             const std::string& name) {
  RowBuffers<Value> arrays({all.rows(), all.entries()}, options.spill);
  RowBounds place;
  for (StreamPart& part : parts) {
    const RowArrays<Value> to = arrays.from(place);
    std::copy(part.targets.begin(), part.targets.end(), to.targets);
    std::copy(part.query.begin(), part.query.end(), to.query);
    std::transform(part.ends.begin() + 1, part.ends.end(), to.ends,
                   [&](std::uint64_t end) { return end + place.entries; });
    std::copy(part.columns.begin(), part.columns.end(), to.columns);
    std::visit([&](const auto& values) { std::copy(values.begin(), values.end(), to.values); }, part.values);
    place.rows += part.found.rows;
    place.entries += part.found.entries;
    part = {};  // never two copies of everything
  }
  return finish(std::move(arrays), all, options, name);
}

Dataset read_stream(Source& source, const ReadOptions& options) {
  const RowRules rules = rules_of(options);
  std::atomic<bool> doubles = false;  // once some number is not exact in float, all will be doubles
  const auto work = [&](std::string_view text) {
    const RowBounds bounds = row_bounds(text);
    StreamPart part;
    if (!doubles) part = parse_part<float>(text, rules, bounds);
    if (doubles || part.found.inexact) {
      doubles = true;
      part = parse_part<double>(text, rules, bounds);
    }
    part.text = text;
    return part;
  };
  Agreement all;
  const auto check = [&](StreamPart& part) { part.complaint = all.add(part.found, part.text); };
  std::vector<StreamPart> parts;
  const auto take = [&](StreamPart&& part) { parts.push_back(std::move(part)); };
  for_each_piece(source, Lines::plain, work, take, check);
  return doubles ? join<double>(parts, all, options, source.name())
                 : join<float>(parts, all, options, source.name());
}

}  // namespace

Dataset read_svmlight(Source& source, const ReadOptions& options) {
  return source.whole() ? read_whole(source, options) : read_stream(source, options);
}

}  // namespace fenchel::data
