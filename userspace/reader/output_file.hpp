// SPDX-License-Identifier: MIT
// Writing the files of a trace directory.
#ifndef GKHI_READER_OUTPUT_FILE_HPP
#define GKHI_READER_OUTPUT_FILE_HPP

#include <gkhi/reader/result.hpp>

#include <string>

namespace gkhi::reader {

Status WriteAll(int fd, const char *data, size_t size, const std::string &path);

// A complete file takes the place of the old one: a reader sees the one or the other.
Status ReplaceFile(const std::string &path, const std::string &text);

}  // namespace gkhi::reader

#endif
