#include "jobs/make_vectors.h"

#include <cstdlib>
#include <ctime>

namespace opwright::jobs {
namespace {

vectors::SweepWriter sweep_writer(const vectors::SuiteOptions& options, const std::string& folder,
                                  const std::string& tag) {
  vectors::SweepOptions sweep;
  sweep.folder = folder;
  const char* user = std::getenv("USER");
  sweep.tag = !tag.empty() ? tag : user != nullptr && *user != '\0' ? user : "opwright";
  sweep.time = std::time(nullptr);
  sweep.group = options.group;
  sweep.suite = options.suite;
  if (options.ops.size() == 1) sweep.module = options.ops.front();
  return vectors::SweepWriter(std::move(sweep));
}

}  // namespace

Result<VectorsReport> make_vectors(const VectorsRequest& request) {
  const vectors::SuiteOptions& suite = request.suite;
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(request.question.where));
  std::optional<vectors::SweepWriter> writer;
  if (!request.folder.empty()) writer.emplace(sweep_writer(suite, request.folder, request.tag));
  const vectors::UseVector use = [&](vectors::TestVector&& vector) -> Status {
    if (request.each) request.each(vector);
    if (writer) return writer->add(std::move(vector));
    return {};
  };
  VectorsReport report;
  if (!suite.file.empty() || !suite.vectors.empty()) {
    OPWRIGHT_TRY(vectors::for_each_vector_of_file(selector, suite, use, &report.made));
  } else {
    OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(request.question.store, request.question.wait_ms));
    OPWRIGHT_TRY(check_operations(*reader, suite.ops));
    OPWRIGHT_TRY(vectors::for_each_vector(*reader, selector, suite, use, &report.made));
  }
  if (writer) {
    OPWRIGHT_TRY_ASSIGN(report.written, writer->finish());
  }
  return report;
}

}  // namespace opwright::jobs
