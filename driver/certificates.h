// Certificates of a planning problem's bounds as files, buffers and pools by name.
//
//   [{"pool": "sram", "bound": 12, "time": 1, "buffers": ["a", "c"]}]
#pragma once

#include <string>
#include <vector>

#include "planner/certificate.h"

namespace arenac {

std::string to_json(const Problem& problem, const std::vector<Certificate>& certificates);

// Throws UserError naming `file` where the text says nothing of the problem's pools and buffers.
std::vector<Certificate> certificates_from_json(const std::string& text, const std::string& file,
                                                const Problem& problem);

}  // namespace arenac
