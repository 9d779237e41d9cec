// One numeric option of a loss, penalty or solver, described once, next to the member it sets: command line, help,
// model files and bindings all read this description.
#pragma once

#include <string_view>

namespace fenchel {

template <class Owner>
struct Field {
  std::string_view name;  // as on the command line, without the dashes
  double Owner::*member;  // its default is the member's initialiser
  double low;             // the allowed range; `open` excludes the ends
  double high;
  bool open;
  std::string_view help;
};

}  // namespace fenchel
