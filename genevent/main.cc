// SPDX-License-Identifier: MIT
// genevent: event declarations in YAML -> hooks, descriptors, trace metadata, documentation.
#include "cli.hpp"

int main(int argc, char **argv) {
  return genevent::Main(argc, argv);
}
