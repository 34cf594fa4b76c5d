#include "client/render/sweep.h"

#include <string>
#include <vector>

#include "client/render/plot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace linnet::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kGiB = int64_t{1} << 30;

// Two policies by two batches by three lengths, on one device.
v1::SweepResponse Plan() {
  v1::SweepResponse part;
  v1::SweepPlan& plan = *part.mutable_plan();
  plan.set_points(12);
  v1::SizeValues& batch = *plan.add_sizes();
  batch.set_role(v1::SIZE_ROLE_BATCH);
  batch.add_values(1);
  batch.add_values(2);
  v1::SizeValues& context = *plan.add_sizes();
  context.set_role(v1::SIZE_ROLE_CONTEXT);
  for (const int64_t size : {16, 32, 64}) context.add_values(size);
  for (const char* policy : {"none", "block"}) {
    v1::SweepVariant& variant = *plan.add_variants();
    variant.set_layout("1 device");
    variant.set_checkpoint(policy);
  }
  v1::SweepDevice& device = *plan.add_devices();
  device.mutable_rates()->set_name("l4");
  device.set_memory_bytes(3 * kGiB);
  return part;
}

v1::SweepResponse Points(int32_t variant, int64_t first,
                         std::vector<int64_t> gib) {
  v1::SweepResponse part;
  v1::SweepPoints& points = *part.mutable_points();
  points.set_variant(variant);
  points.set_first(first);
  for (const int64_t each : gib) {
    points.add_graph_bytes(each * kGiB / 2);
    points.add_expected_bytes(each * kGiB);
  }
  return part;
}

std::string Written(SweepForm form, const std::vector<v1::SweepResponse>& parts,
                    SweepReader* reader) {
  SweepWriter writer(form);
  std::string out;
  for (const v1::SweepResponse& part : parts) {
    reader->Take(
        part,
        [&](const SweepPoint& point) {
          writer.Add(reader->plan(), point, &out);
        },
        [&](const v1::SweepVariant& variant, const std::string& reason) {
          out += variant.checkpoint() + " refused: " + reason + "\n";
        });
    if (part.has_plan()) out += writer.Header(reader->plan());
  }
  return out;
}

TEST(SweepTest, PointsFindTheirSizes) {
  SweepReader reader;
  std::vector<std::vector<int64_t>> sizes;
  const auto keep = [&](const SweepPoint& point) {
    sizes.push_back(point.sizes);
  };
  reader.Take(Plan(), nullptr, nullptr);
  reader.Take(Points(1, 2, {1, 1, 1}), keep, nullptr);
  EXPECT_THAT(sizes, ElementsAre(ElementsAre(1, 64), ElementsAre(2, 16),
                                 ElementsAre(2, 32)));
  EXPECT_EQ(reader.points(), 3);
}

TEST(SweepTest, ATableHasTheColumnsThatVary) {
  SweepReader reader;
  v1::SweepResponse timed = Points(0, 0, {1, 4, 2});
  for (const double seconds : {0.01, 0.02, 0.0}) {
    timed.mutable_points()->add_seconds(seconds);
  }
  EXPECT_EQ(Written(SweepForm::kTable, {Plan(), timed}, &reader),
            "checkpoint  batch  context          peak        l4\n"
            "      none      1       16      1.00 GiB   10.0 ms\n"
            "      none      1       32      4.00 GiB        no\n"
            "      none      1       64      2.00 GiB      fits\n");
}

TEST(SweepTest, UnknownPeaksStayEmpty) {
  SweepReader reader;
  v1::SweepResponse part = Points(1, 0, {1, 0, 0});
  for (const auto state : {v1::POINT_STATE_BROKEN, v1::POINT_STATE_OVERFLOW,
                           v1::POINT_STATE_INVALID}) {
    part.mutable_points()->add_states(state);
  }
  EXPECT_EQ(Written(SweepForm::kCsv, {Plan(), part}, &reader),
            "dtype,layout,checkpoint,batch,context,graph_bytes,expected_bytes,"
            "state,fits l4,seconds l4\n"
            ",1 device,block,1,16,536870912,1073741824,broken,yes,\n"
            ",1 device,block,1,32,,,overflow,,\n"
            ",1 device,block,1,64,,,invalid,,\n");
  EXPECT_EQ(reader.good(), 1);
  SweepReader again;
  const std::string lines =
      Written(SweepForm::kJsonLines, {Plan(), part}, &again);
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["expected"], kGiB);
  EXPECT_EQ(first["devices"]["l4"]["fits"], true);
  EXPECT_EQ(first["devices"]["l4"]["seconds"], nullptr);
  EXPECT_THAT(lines, HasSubstr(R"("expected":null,"state":"overflow")"));
}

TEST(SweepTest, CsvQuotesCommas) {
  SweepReader reader;
  v1::SweepResponse plan = Plan();
  plan.mutable_plan()->mutable_variants(0)->set_layout("TP 2, \"x\"");
  EXPECT_THAT(Written(SweepForm::kCsv, {plan, Points(0, 0, {1})}, &reader),
              HasSubstr("\"TP 2, \"\"x\"\"\","));
}

TEST(SweepTest, RefusalsNameTheirVariant) {
  SweepReader reader;
  v1::SweepResponse refusal;
  refusal.mutable_refusal()->set_variant(1);
  refusal.mutable_refusal()->set_reason("no");
  v1::SweepResponse odd = refusal;
  odd.mutable_refusal()->set_variant(7);
  EXPECT_THAT(Written(SweepForm::kJsonLines, {Plan(), refusal, odd}, &reader),
              "block refused: no\n");
  // A server that is none of ours.
  v1::SweepResponse short_of = Points(0, 0, {1});
  short_of.mutable_points()->clear_graph_bytes();
  EXPECT_EQ(
      Written(SweepForm::kJsonLines, {short_of, Points(9, 0, {1})}, &reader),
      "");
}

SweepPlot Draw(const std::vector<v1::SweepResponse>& parts,
               SweepReader* reader) {
  SweepPlot plot;
  for (const v1::SweepResponse& part : parts) {
    reader->Take(
        part, [&](const SweepPoint& point) { plot.Add(reader->plan(), point); },
        nullptr);
  }
  return plot;
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PlotTest, ALineForEachCombinationOfTheRest) {
  SweepReader reader;
  const SweepPlot plot = Draw({Plan(), Points(0, 0, {1, 2, 3, 2, 4, 6}),
                               Points(1, 0, {1, 1, 1, 1, 1, 1})},
                              &reader);
  const auto svg = plot.Svg(reader.plan());
  ASSERT_TRUE(svg.ok()) << svg.status();
  // Over the batch: a line for each length and policy.
  EXPECT_EQ(Count(*svg, "<polyline"), 6u);
  EXPECT_THAT(*svg, HasSubstr("1 device, block, context 64"));
  EXPECT_THAT(*svg, HasSubstr(">l4</text>"));
  EXPECT_THAT(*svg, HasSubstr(">batch</text>"));
  EXPECT_EQ(Count(*svg, "<svg"), Count(*svg, "</svg>"));
  EXPECT_THAT(*svg, Not(HasSubstr("nan")));
}

TEST(PlotTest, NamesAreEscaped) {
  SweepReader reader;
  v1::SweepResponse plan = Plan();
  plan.mutable_plan()->mutable_variants(0)->set_layout("<&\">");
  plan.mutable_plan()->mutable_devices(0)->mutable_rates()->set_name("a<b");
  const SweepPlot plot = Draw({plan, Points(0, 0, {1, 2, 3})}, &reader);
  const auto svg = plot.Svg(reader.plan());
  ASSERT_TRUE(svg.ok());
  EXPECT_THAT(*svg, HasSubstr("&lt;&amp;&quot;&gt;"));
  EXPECT_THAT(*svg, HasSubstr("a&lt;b"));
}

TEST(PlotTest, TooManyLinesOrNone) {
  SweepReader reader;
  v1::SweepResponse plan = Plan();
  for (int64_t size = 100; size < 120; ++size) {
    plan.mutable_plan()->mutable_sizes(1)->add_values(size);
  }
  std::vector<int64_t> gib(23, 1);
  const SweepPlot many = Draw({plan, Points(0, 0, gib)}, &reader);
  EXPECT_THAT(std::string(many.Svg(reader.plan()).status().message()),
              HasSubstr("at most 16 lines"));
  SweepReader none;
  EXPECT_THAT(
      std::string(Draw({Plan()}, &none).Svg(none.plan()).status().message()),
      HasSubstr("nothing to plot"));
}

}  // namespace
}  // namespace linnet::client
