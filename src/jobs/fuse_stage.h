// The stages of `fuse make`, one after the other: what a stage found is kept in logs/, and taken from there where an
// earlier run on the same input did it already.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fuse/report.h"
#include "jobs/fuse_folder.h"

namespace opwright::jobs {

class FuseStages {
 public:
  using OnStage = std::function<void(const fuse::Section&)>;
  // `key` says what all of them stand on; `findings` grow while stages run.
  FuseStages(FuseFolder& folder, std::string key, std::vector<fuse::Finding>& findings, OnStage on_stage)
      : folder_(folder), key_(std::move(key)), findings_(findings), on_stage_(std::move(on_stage)) {}

  // `work` fills in the section; `take_up` gets the metrics of one that is not done again.
  Status run(const std::string& id, const std::function<Status(fuse::Section&)>& work,
             const std::function<Status(const json::Node& metrics)>& take_up);

  const std::vector<fuse::Section>& sections() const { return sections_; }
  const fuse::Section* find(std::string_view id) const;

 private:
  bool take_kept(fuse::Section& section, const std::function<Status(const json::Node& metrics)>& take_up);

  FuseFolder& folder_;
  std::string key_;
  std::vector<fuse::Finding>& findings_;
  OnStage on_stage_;
  std::vector<fuse::Section> sections_;
};

}  // namespace opwright::jobs
