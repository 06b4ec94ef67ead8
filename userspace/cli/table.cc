// SPDX-License-Identifier: MIT
// Lays a table out with libsmartcols.
#include "table.hpp"

#include <fmt/format.h>
#include <libsmartcols.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <gkhi/reader/printable.hpp>
#include <memory>

#include "command.hpp"

namespace gkhi::cli {
namespace {

struct Unref {
  void operator()(libscols_table *table) const { scols_unref_table(table); }
};

}  // namespace

Table::Table(std::string name, const std::vector<Column> &columns, std::vector<size_t> selected,
             TableStyle style)
    : name_(std::move(name)), columns_(columns), selected_(std::move(selected)), style_(style) {}

int Table::Add(std::vector<std::string> cells, int parent) {
  rows_.push_back({std::move(cells), parent});
  return static_cast<int>(rows_.size()) - 1;
}

std::string Table::Text() const {
  std::unique_ptr<libscols_table, Unref> table(scols_new_table());
  if (table == nullptr) return {};
  scols_table_set_name(table.get(), name_.c_str());
  scols_table_enable_json(table.get(), style_.json);
  scols_table_enable_raw(table.get(), style_.raw);
  scols_table_enable_ascii(table.get(), 1);
  scols_table_enable_noheadings(table.get(), !style_.headings);
  bool tree = false;
  for (const size_t i : selected_) {
    const Column &column = columns_[i];
    tree |= column.tree;
    const int flags = (column.right ? SCOLS_FL_RIGHT : 0) | (column.tree ? SCOLS_FL_TREE : 0);
    std::string name = column.name;
    if (style_.json) std::transform(name.begin(), name.end(), name.begin(), ::tolower);
    libscols_column *made = scols_table_new_column(table.get(), name.c_str(), 0, flags);
    scols_column_set_json_type(made, column.number ? SCOLS_JSON_NUMBER : SCOLS_JSON_STRING);
  }
  std::vector<libscols_line *> lines;
  for (const Row &row : rows_) {
    libscols_line *parent = row.parent >= 0 && tree ? lines[row.parent] : nullptr;
    libscols_line *line = scols_table_new_line(table.get(), parent);
    lines.push_back(line);
    for (size_t k = 0; k < selected_.size(); k++) {
      const std::string &cell = row.cells[selected_[k]];
      if (!cell.empty()) scols_line_set_data(line, k, cell.c_str());
    }
  }
  char *text = nullptr;
  scols_print_table_to_string(table.get(), &text);
  std::string out = text != nullptr ? text : "";
  free(text);
  if (!out.empty() && out.back() != '\n') out += '\n';
  return style_.json ? reader::PrintableJson(out) : out;  // the rest of it libsmartcols escapes
}

Result<std::vector<size_t>> SelectColumns(const std::vector<Column> &columns, std::string_view list,
                                          const std::vector<std::string> &hidden) {
  std::vector<size_t> selected;
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column &column : columns) names.emplace_back(column.name);
  for (size_t i = 0; list.empty() && i < columns.size(); i++) {
    if (std::find(hidden.begin(), hidden.end(), names[i]) == hidden.end()) selected.push_back(i);
  }
  while (!list.empty()) {
    std::string word(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    std::transform(word.begin(), word.end(), word.begin(), ::toupper);
    const auto it = std::find(names.begin(), names.end(), word);
    if (it == names.end()) {
      const std::string near = Nearest(word, names);
      return Error{fmt::format("unknown column '{}'; {}wanted some of {}", word,
                               near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                               fmt::join(names, ","))};
    }
    selected.push_back(it - names.begin());
  }
  return selected;
}

std::string ColumnsHelp(const std::vector<Column> &columns) {
  std::string out;
  for (const Column &column : columns) out += fmt::format("  {:<12}{}\n", column.name, column.help);
  return out;
}

}  // namespace gkhi::cli
