#include "report/html.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "report/kill_table.h"
#include "report/markup.h"
#include "report/page_data.h"
#include "report/page_frame.h"
#include "report/run_diff_view.h"

namespace opwright::embedded {  // src/report/page/
extern const std::string_view kPageHtml, kPageCss, kPageTheme;
extern const std::string_view kPageDom, kPageData, kPageFilters, kPageFigures, kPageOverview, kPagePlots, kPageMatrix,
    kPageTables, kPageFailures, kPageResults, kPageScatter, kPageSince, kPageWords, kPageDetail, kPageMain;
}  // namespace opwright::embedded

namespace opwright::report {
namespace {

// One script: a browser refuses modules from file://.
std::string script() {
  std::string out = "\"use strict\";\n";
  for (const std::string_view part :
       {embedded::kPageDom, embedded::kPageData, embedded::kPageFilters, embedded::kPageFigures,
        embedded::kPageOverview, embedded::kPagePlots, embedded::kPageMatrix, embedded::kPageTables,
        embedded::kPageFailures, embedded::kPageResults, embedded::kPageScatter, embedded::kPageSince,
        embedded::kPageWords, embedded::kPageDetail, embedded::kPageMain}) {
    out += part;
  }
  return out;
}

std::string data_elements(const RunRecord& run, PageData& data, const PageContext& context) {
  std::string out = fmt::format(
      "<script type=\"application/json\" id=\"run\">{}</script>\n",
      json_in_html(run_json(run, context.since == nullptr ? "" : since_json(*context.since), context.history)));
  out += fmt::format("<script type=\"application/x-packed\" id=\"columns\">{}</script>\n", packed(data.columns_json()));
  const std::vector<std::string>& blocks = data.details();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    out += fmt::format("<script type=\"application/x-packed\" id=\"details-{}\">{}</script>\n", i, blocks[i]);
  }
  return out;
}

}  // namespace

Result<Page> make_page(const RunRecord& run, const ResultStream& results, const PageContext& context) {
  PageData data;
  KillTable misuse;
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    misuse.add(record);
    data.add(record, context.spell ? context.spell(record) : CaseTexts{},
             context.history != nullptr ? context.history->of(record) : "[]");
    return {};
  }));
  std::string judge = kills_html(misuse.finish());
  const std::span<const SideTable> tables = context.tables;
  for (std::size_t i = 0; i < tables.size(); ++i) judge += side_table_html(tables[i], fmt::format("table-{}", i + 1));
  const std::string code = script();
  const std::string theme(embedded::kPageTheme);
  const std::string style(embedded::kPageCss);
  Page page;
  page.results = data.results();
  page.html =
      filled(embedded::kPageHtml, {{"policy", policy_of(style, {theme, code})},
                                   {"title", markup_text(fmt::format("{} on {} · Opwright", run.uid, run.device))},
                                   {"style", style},
                                   {"theme", theme},
                                   {"misuse", judge},
                                   {"data", data_elements(run, data, context)},
                                   {"script", code}});
  return page;
}

}  // namespace opwright::report
