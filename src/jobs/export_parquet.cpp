#include "jobs/export_parquet.h"

#include <filesystem>
#include <vector>

#include "base/subprocess.h"
#include "launch/program.h"
#include "launch/python_package.h"
#include "launch/python_probe.h"

namespace opwright::jobs {

Result<int> export_parquet(const Question& question, const std::string& file, const std::string& python) {
  launch::Environment environment(process_environment());
  std::vector<std::string> command{python};
  if (python.empty()) {
    OPWRIGHT_TRY_ASSIGN(const launch::PythonChoice choice, launch::choose_python({}, environment));
    command = choice.argv;
  }
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command(command, environment));
  OPWRIGHT_TRY_ASSIGN(const std::string package, launch::python_package_folder());
  // By its path: with -m Python would look for everything in the current folder first.
  for (const std::string& word : {package + "/opwright/parquet.py", std::string("-o"), file}) command.push_back(word);
  if (!question.where.empty()) command.insert(command.end(), {"--where", question.where});
  std::string packages = package;
  if (const auto own = environment.get("PYTHONPATH"); own && !own->empty()) packages += ":" + *own;
  environment.set("PYTHONPATH", packages, "the package opwright; your own path follows");
  std::error_code error;
  // Not on the command line, which everybody on the machine can read: a URL may hold a password.
  environment.set("OPWRIGHT_STORE", question.store, "the store");
  environment.set("OPWRIGHT_BIN", std::filesystem::read_symlink("/proc/self/exe", error).string(), "this program");
  OPWRIGHT_TRY_ASSIGN(const launch::Ended ended, launch::run_program(path, command, environment));
  return ended.status;
}

}  // namespace opwright::jobs
