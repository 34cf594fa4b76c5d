// linnet, the command line of the planning service.

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/string_view.h"
#include "client/commands/command.h"

namespace {

bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0) return false;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const linnet::client::Outcome outcome =
      linnet::client::RunCommandLine(argc, argv);
  WriteAll(STDERR_FILENO, outcome.errors);
  const bool written = WriteAll(STDOUT_FILENO, outcome.output);
  // Winding gRPC down takes longer than the call did; nothing is left to do.
  _exit(written ? outcome.exit_status : linnet::client::kExitServer);
}
