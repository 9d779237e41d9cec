// What the probes that fit share: lists of numbers, raw weights for other programs, the process's memory.
#pragma once

#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fenchel::bench {

// A,B,...
inline std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(std::stod(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return list;
}

// The doubles as they lie in memory: numpy.fromfile reads them.
inline void write_doubles(const std::string& path, std::span<const double> values) {
  std::ofstream file(path, std::ios::binary);
  const std::span<const std::byte> bytes = std::as_bytes(values);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// A line of /proc/self/status in bytes: VmHWM (the most so far), RssAnon (now, without files), RssFile (of files); 0
// where there is none.
inline double memory(std::string_view field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return 1024.0 * std::stod(line.substr(field.size() + 1));
  }
  return 0.0;
}

// VmHWM begins anew at what is resident now.
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// One line that is there even if the process is ended during the next fit.
inline void print_line(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace fenchel::bench
