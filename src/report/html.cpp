#include "report/html.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "report/kill_table.h"
#include "report/markup.h"
#include "report/page_data.h"

namespace opwright::embedded {  // src/report/page/
extern const std::string_view kPageHtml, kPageCss, kPageTheme;
extern const std::string_view kPageDom, kPageData, kPageFilters, kPageFigures, kPageOverview, kPagePlots, kPageMatrix,
    kPageTables, kPageFailures, kPageResults, kPageDetail, kPageMain;
}  // namespace opwright::embedded

namespace opwright::report {
namespace {

// One script: a browser refuses modules from file://.
std::string script() {
  std::string out = "\"use strict\";\n";
  for (const std::string_view part :
       {embedded::kPageDom, embedded::kPageData, embedded::kPageFilters, embedded::kPageFigures,
        embedded::kPageOverview, embedded::kPagePlots, embedded::kPageMatrix, embedded::kPageTables,
        embedded::kPageFailures, embedded::kPageResults, embedded::kPageDetail, embedded::kPageMain}) {
    out += part;
  }
  return out;
}

// JSON inside an element of HTML: only a `<` could end the element, and it stands in strings only.
std::string json_in_html(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

// The source that a Content-Security-Policy allows by its hash. Whatever data might smuggle in has another.
std::string allowed(std::string_view source) {
  const Sha256 hash = sha256(source);
  std::array<unsigned char, 48> text{};
  const int size = EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(hash.size()));
  return fmt::format("'sha256-{}'",
                     std::string_view(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(size)));
}

std::string data_elements(const RunRecord& run, PageData& data) {
  std::string out =
      fmt::format("<script type=\"application/json\" id=\"run\">{}</script>\n", json_in_html(run_json(run)));
  out += fmt::format("<script type=\"application/x-packed\" id=\"columns\">{}</script>\n", packed(data.columns_json()));
  const std::vector<std::string>& blocks = data.details();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    out += fmt::format("<script type=\"application/x-packed\" id=\"details-{}\">{}</script>\n", i, blocks[i]);
  }
  return out;
}

// Replaces {{name}} in one walk over the template, so that a value that contains {{…}} stays as it is.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find("{{", at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, close - open - 2);
    for (const auto& [key, value] : values) {
      if (key == name) out += value;
    }
    at = close + 2;
  }
  return out;
}

}  // namespace

Result<Page> make_page(const RunRecord& run, const ResultStream& results, std::span<const SideTable> tables) {
  PageData data;
  KillTable misuse;
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    misuse.add(record);
    data.add(record);
    return {};
  }));
  std::string judge = kills_html(misuse.finish());
  for (std::size_t i = 0; i < tables.size(); ++i) judge += side_table_html(tables[i], fmt::format("table-{}", i + 1));
  const std::string code = script();
  const std::string theme(embedded::kPageTheme);
  const std::string style(embedded::kPageCss);
  Page page;
  page.results = data.results();
  page.html = filled(
      embedded::kPageHtml,
      {{"policy", fmt::format("default-src 'none'; style-src {}; script-src {} {}; base-uri 'none'; form-action 'none'",
                              allowed(style), allowed(theme), allowed(code))},
       {"title", markup_text(fmt::format("{} on {} · Opwright", run.uid, run.device))},
       {"style", style},
       {"theme", theme},
       {"misuse", judge},
       {"data", data_elements(run, data)},
       {"script", code}});
  return page;
}

}  // namespace opwright::report
