// The functions that the steps of a program call, each once, with what they need of the C runtime: a part of
// NAME.c, or of several programs together a part of the file that has their memory.
//
//   kws.c                            wake.c   asr.c        both include voice_kernels.h
//     static kws_conv_0()              |        |
//     static kws_conv_1()              v        v
//     kws_run()                      voice.c: voice_conv_0_5f3a9c01()
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/c_kernel.h"
#include "codegen/c_text.h"
#include "codegen/emit.h"
#include "codegen/shared_kernels.h"

namespace arenac {

// How a step calls a nest's kernel.
struct KernelUse {
  CKernel kernel;
  std::string function;
  std::string numbers;  // the last argument; empty: it takes none
};

class KernelLibrary {
 public:
  // Of one program, or of all that have the functions under this name in common; their steps. Of the options:
  // features, registers, code.
  enum class Of { kProgram, kSeveral };
  KernelLibrary(const std::string& name, const EmitOptions& options, Of of,
                const std::vector<std::vector<LoweredNest>>& steps);

  bool of_several() const { return of_ == Of::kSeveral; }
  const std::string& name() const { return name_; }

  // `comment` is called, with the kernel, when the function is new.
  template <typename Comment>
  KernelUse use(const LoweredNest& nest, const std::string& op, const Comment& comment) {
    CKernel kernel = c_kernel(nest.kernel, nest.operands, name_, helpers_);
    const auto row = shared_.rows.find(kernel.signature);
    const SharedKernel* shared = row == shared_.rows.end() ? nullptr : &shared_.kernels[row->second.kernel];
    const std::string& signature = shared ? shared->signature : kernel.signature;
    const std::string function =
        kernels_.contains(signature) ? kernels_.at(signature) : added(signature, op, comment(kernel), shared);
    const std::string numbers = shared ? fmt::format("{}_numbers[{}]", function, row->second.row) : "";
    return {std::move(kernel), function, numbers};
  }

  // The function for a kernel that is written in C (frontend/kernels.h).
  std::string use(const Call& call);

  // Files that they need beside those that every NAME.c includes; what stands before functions and after
  // them: options of compilers, macros.
  const std::set<std::string>& preludes() const { return helpers_.preludes; }
  void begin(CText& c) const;
  void end(CText& c) const;
  // All functions that were used so far.
  std::string text() const;
  // Their declarations: voice_kernels.h.
  File header() const;

 private:
  std::string added(const std::string& signature, const std::string& op, const std::string& comment,
                    const SharedKernel* shared);
  void turn_on_features(CText& c) const;
  void keep_sums_in_registers(CText& c) const;
  void let_loops_be_vectors(CText& c) const;

  const std::string name_, upper_;
  const std::string features_;
  const Registers registers_;
  const Of of_;
  const bool takes_text_;
  Helpers helpers_ = {};
  SharedKernels shared_ = {};                        // empty: none
  std::map<std::string, std::string> kernels_ = {};  // parameters and body -> name
  std::set<std::string> called_ = {};                // instances of kernels written in C
  std::string text_ = {}, declarations_ = {};
};

}  // namespace arenac
