// SPDX-License-Identifier: MIT
// Reading and writing whole files.
#ifndef GENEVENT_FILES_HPP_
#define GENEVENT_FILES_HPP_

#include <optional>
#include <string>

namespace genevent {

// Empty on success, else what went wrong: "PATH: No such file or directory".
[[nodiscard]] std::string ReadFile(const std::string &path, std::string *text);

// Writes by way of a temporary file, so that nobody sees half of it. With `compare` a file that has this text
// already stays untouched. "-" is standard output.
[[nodiscard]] std::string WriteFile(const std::string &path, const std::string &text, bool compare);

}  // namespace genevent

#endif  // GENEVENT_FILES_HPP_
