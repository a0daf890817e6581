// SHA-256 (FIPS 180-4): which model a memory map and its C belong to.
#pragma once

#include <string>
#include <string_view>

namespace arenac {

std::string sha256(std::string_view bytes);  // 64 lower-case hexadecimal digits

}  // namespace arenac
