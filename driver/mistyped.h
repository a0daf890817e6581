// What CLI11 says less of than a user needs: words of the command line that name no command, no option, or
// nothing that the command takes.
//
//   arenac compile m.onnx --optmize ram    ->  "compile has no option '--optmize'; did you mean --optimize?"
//   arenac complie m.onnx                  ->  "there is no command 'complie'; did you mean compile?"
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace arenac {

// The first such word of `words` (argv without the program's name), or nothing.
std::optional<std::string> mistyped(const CLI::App& app, const std::vector<std::string>& words);

// One of these words, which the help lists; the message about another names the nearest.
CLI::Validator one_of(std::vector<std::string> names);

CLI::Validator number_above_0();
CLI::Validator number_from_0();

// A size as bytes_of_size reads it, made a number of bytes.
CLI::Validator size_in_bytes();

}  // namespace arenac
