// SPDX-License-Identifier: MIT
// Tables as lsblk prints them: libsmartcols behind a small value interface.
#ifndef GKHI_CLI_TABLE_HPP
#define GKHI_CLI_TABLE_HPP

#include <gkhi/reader/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gkhi::cli {

struct Column {
  const char *name;
  const char *help;
  bool right = false;   // numbers
  bool number = false;  // JSON: without quotes
  bool tree = false;    // children hang here
};

struct TableStyle {
  bool json = false;
  bool raw = false;
  bool headings = true;
};

class Table {
 public:
  // Prints @selected of @columns in that order, as @name ("hooks": the key in JSON).
  Table(std::string name, const std::vector<Column> &columns, std::vector<size_t> selected, TableStyle style);

  // One cell per column of the whole table; @parent: what Add() returned, or -1.
  int Add(std::vector<std::string> cells, int parent = -1);
  std::string Text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    int parent;
  };
  std::string name_;
  const std::vector<Column> &columns_;
  std::vector<size_t> selected_;
  TableStyle style_;
  std::vector<Row> rows_;
};

// "HOOK,state" into indices; the error names the wrong word, the nearest one and all of them. Empty: all but
// those in @hidden.
Result<std::vector<size_t>> SelectColumns(const std::vector<Column> &columns, std::string_view list,
                                          const std::vector<std::string> &hidden = {});

// For help: the names and what they mean, one line each.
std::string ColumnsHelp(const std::vector<Column> &columns);

}  // namespace gkhi::cli

#endif
