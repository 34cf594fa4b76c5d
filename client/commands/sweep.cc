// linnet sweep: a model at many sizes.

#include "client/render/sweep.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/api/client.h"
#include "client/commands/command.h"
#include "client/commands/config_flags.h"
#include "client/commands/device_flags.h"
#include "client/commands/size_ranges.h"
#include "client/render/plot.h"
#include "client/render/time.h"
#include "linnet/v1/planner.pb.h"

namespace linnet::client {
namespace {

struct Flags {
  ConfigFlags config;
  v1::SweepRequest request;
  std::string devices, plot;
  std::vector<int64_t> tensor, pipeline;
  bool time = false, csv = false, json_lines = false;
};

std::vector<std::string> Parts(const std::string& text) {
  return absl::StrSplit(text, ',', absl::SkipEmpty());
}

void AddAxis(CLI::App& command, const char* names, const char* help,
             v1::SizeRole role, v1::SweepRequest& request) {
  command.add_option_function<std::string>(
      names,
      [&request, role](const std::string& text) {
        auto axis = ParseSizes(text);
        if (!axis.ok()) {
          throw CLI::ValidationError(std::string(SizeRoleText(role)),
                                     std::string(axis.status().message()));
        }
        axis->set_role(role);
        *request.add_sizes() = *std::move(axis);
      },
      help);
}

void SetCounts(const char* flag, const std::string& text,
               std::vector<int64_t>& counts) {
  for (const std::string& part : Parts(text)) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(part, &count) || count < 1) {
      throw CLI::ValidationError(
          flag, "must be whole numbers, at least 1, not " + part);
    }
    counts.push_back(count);
  }
}

// Takes a flag of another command's out, to read it as a list.
void Replace(CLI::App& command, const char* name) {
  command.remove_option(command.get_option(name));
}

void AddFlags(CLI::App& command, Flags& flags) {
  v1::SweepRequest& request = flags.request;
  AddConfigFlagsButSizes(command, flags.config);
  AddAxis(command, "--batch", "sizes of B and Batch, such as 1..64x2",
          v1::SIZE_ROLE_BATCH, request);
  AddAxis(command, "--seq-len,--context",
          "sizes of S, P, Seq and SeqLen, such as 1k,4k,16k",
          v1::SIZE_ROLE_CONTEXT, request);
  AddAxis(command, "--cache-len",
          "sizes of MaxSeq; follows the sequence length when not given",
          v1::SIZE_ROLE_CACHE, request);
  Replace(command, "--dtype");
  command.add_option_function<std::string>(
      "--dtype",
      [&request](const std::string& text) {
        for (const std::string& part : Parts(text)) request.add_dtypes(part);
      },
      "dtypes of the root block, with commas between");
  for (const auto& [name, counts, what] :
       {std::tuple{"--tensor-parallel", &flags.tensor,
                   "numbers of processes that split every weight"},
        std::tuple{"--pipeline-parallel", &flags.pipeline,
                   "numbers of devices of a pipeline"}}) {
    Replace(command, name);
    std::vector<int64_t>& into = *counts;
    const char* flag = name;
    command.add_option_function<std::string>(
        name,
        [flag, &into](const std::string& text) { SetCounts(flag, text, into); },
        what);
  }
  command.add_option("--device", flags.devices,
                     "devices by name, or files with their profiles, with "
                     "commas between: what fits them");
  command.add_flag("--time", flags.time,
                   "how long a step takes on each device, too");
  command.add_flag("--csv", flags.csv, "comma-separated values");
  command.add_flag("--jsonl", flags.json_lines, "a JSON object per point");
  command.add_option("--plot", flags.plot,
                     "an SVG file to draw peaks into, over the first size with "
                     "several values");
}

// What is printed while points come, and what is kept for the end.
class Printer {
 public:
  explicit Printer(const Flags& flags)
      : writer_(flags.csv          ? SweepForm::kCsv
                : flags.json_lines ? SweepForm::kJsonLines
                                   : SweepForm::kTable),
        plots_(!flags.plot.empty()),
        // Beside lines on the same terminal it would be in the way.
        progress_(isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0) {}

  bool Take(const v1::SweepResponse& part) {
    if (part.has_plan()) {
      reader_.Take(part, nullptr, nullptr);
      out_ += writer_.Header(reader_.plan());
    } else {
      reader_.Take(
          part,
          [this](const SweepPoint& point) {
            writer_.Add(reader_.plan(), point, &out_);
            if (plots_) plot_.Add(reader_.plan(), point);
          },
          [this](const v1::SweepVariant& variant, const std::string& reason) {
            absl::StrAppend(
                &errors_, "left out: ",
                variant.dtype().empty() ? "" : variant.dtype() + ", ",
                variant.layout(), ": ", reason, "\n");
          });
    }
    ShowProgress();
    return Flush();
  }

  // Writes what there is; false when nobody reads.
  bool Flush() {
    const bool written =
        std::fwrite(out_.data(), 1, out_.size(), stdout) == out_.size() &&
        std::fflush(stdout) == 0;
    out_.clear();
    return written;
  }

  // Where the times come from.
  void NameRates() {
    for (const v1::SweepDevice& device : reader_.plan().devices()) {
      absl::StrAppend(&errors_, "rates of ", device.rates().name(), ": ",
                      device.rates().source(), "\n");
    }
  }

  void EndProgress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }

  const SweepReader& reader() const { return reader_; }
  const SweepPlot& plot() const { return plot_; }
  const std::string& errors() const { return errors_; }

 private:
  void ShowProgress() {
    if (!progress_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    shown_ = true;
    std::fprintf(
        stderr, "\r%s of %s points",
        CountText(static_cast<double>(reader_.points())).c_str(),
        CountText(static_cast<double>(reader_.plan().points())).c_str());
  }

  SweepReader reader_;
  SweepWriter writer_;
  SweepPlot plot_;
  const bool plots_;
  const bool progress_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
  std::string out_, errors_;
};

absl::Status Finish(Flags& flags) {
  v1::SweepRequest& request = flags.request;
  for (const std::string& text : Parts(flags.devices)) {
    auto device = ReadDevice(text);
    if (!device.ok()) return device.status();
    *request.add_devices() = *std::move(device);
  }
  request.set_time(flags.time);
  auto config = FinishConfig("sweep", flags.config);
  if (!config.ok()) return config.status();
  request.mutable_config()->Swap(&*config);
  if (flags.tensor.empty() && flags.pipeline.empty()) return absl::OkStatus();
  if (flags.tensor.empty()) flags.tensor.push_back(1);
  if (flags.pipeline.empty()) flags.pipeline.push_back(1);
  for (const int64_t tensor : flags.tensor) {
    for (const int64_t pipeline : flags.pipeline) {
      v1::Parallel& layout = *request.add_layouts();
      layout = request.config().parallel();
      layout.set_tensor(tensor);
      layout.set_pipeline(pipeline);
      // What only a pipeline has.
      if (pipeline == 1) {
        layout.clear_microbatches();
        layout.clear_stages();
        layout.clear_virtual_stages();
      }
      if (tensor == 1) layout.clear_sequence();
    }
  }
  request.mutable_config()->clear_parallel();
  return absl::OkStatus();
}

Outcome RunSweep(Flags& flags) {
  if (flags.csv && flags.json_lines) {
    return UsageError("--csv and --jsonl are two forms; give one");
  }
  if (flags.config.server.json) {
    return UsageError("a sweep has many answers; use --jsonl or --csv");
  }
  if (flags.request.sizes().empty()) {
    return UsageError(
        "which sizes? add --batch 1..64x2, --seq-len 1k,4k,16k or --cache-len");
  }
  if (flags.time && flags.devices.empty()) {
    return UsageError("on which device? --time needs --device h100-80gb");
  }
  if (const absl::Status status = Finish(flags); !status.ok()) {
    return Failure(status);
  }
  const auto client = Client::Connect(flags.config.server.connect);
  if (!client.ok()) return Failure(client.status());
  Printer printer(flags);
  bool read = true;
  const absl::Status status =
      (*client)->Sweep(flags.request, [&](const v1::SweepResponse& part) {
        read = printer.Take(part);
        return read;
      });
  printer.EndProgress();
  if (flags.time) printer.NameRates();
  // Whoever reads may have had enough.
  if (!read) return {kExitOk, "", printer.errors()};
  if (!status.ok()) {
    Outcome failed = Failure(status);
    failed.errors = printer.errors() + failed.errors;
    return failed;
  }
  if (!flags.plot.empty()) {
    const auto svg = printer.plot().Svg(printer.reader().plan());
    if (!svg.ok()) return Failure(svg.status());
    std::ofstream file(flags.plot, std::ios::binary);
    file << *svg;
    if (!file.flush()) {
      return Failure(absl::InvalidArgumentError(
          absl::StrCat("--plot ", flags.plot, " cannot be written")));
    }
  }
  return {printer.reader().good() > 0 ? kExitOk : kExitModel, "",
          printer.errors()};
}

}  // namespace

Command AddSweep(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("sweep", "what a model needs at many sizes");
  auto flags = std::make_shared<Flags>();
  AddFlags(*command, *flags);
  return {command, [flags] { return RunSweep(*flags); }};
}

}  // namespace linnet::client
