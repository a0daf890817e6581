#include "codegen/reports.h"

#include <algorithm>

namespace arenac {

const Report* find_report(std::string_view name) {
  const auto found =
      std::find_if(kReports.begin(), kReports.end(), [&](auto& row) { return row.name == name; });
  return found == kReports.end() ? nullptr : &*found;
}

}  // namespace arenac
