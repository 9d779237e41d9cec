#include "fenchel/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace fenchel {

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

std::size_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : no_limit;
}

template <class Resource>
std::size_t process_limit(Resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  return static_cast<std::size_t>(limit.rlim_cur);
}

// The number a file begins with; none ("max") or no file: no limit.
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : no_limit;
}

// The limits of the control group of this process and of those around it, in the two versions Linux has.
std::size_t group_limit() {
  std::size_t least = no_limit;
  std::ifstream groups("/proc/self/cgroup");  // lines NUMBER:CONTROLLERS:PATH; no controllers in version 2
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = unified ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {
      least = std::min(least, number_in(fmt::format("{}{}{}", root, group, file)));
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

std::size_t usable_memory() {
  return std::min({machine_memory(), process_limit(RLIMIT_DATA), process_limit(RLIMIT_AS), group_limit()});
}

}  // namespace fenchel
