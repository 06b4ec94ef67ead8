// SPDX-License-Identifier: MIT
// The command line of genevent.
#ifndef GENEVENT_CLI_HPP_
#define GENEVENT_CLI_HPP_

namespace genevent {

// 0 done, 1 the event file has errors or a file cannot be read or written, 2 wrong usage.
int Main(int argc, char **argv);

}  // namespace genevent

#endif  // GENEVENT_CLI_HPP_
