#include "abi/pack_completion.h"

#include "abi/generated/packed_out.h"

namespace tessera::abi {

std::vector<uint32_t> pack_completion(const engine::Completion& completion) {
  PackedWriter out;
  write_completion_head(out, completion);
  if (completion.status.is_ok()) {
    write_answer_facts(out, completion);
    kWriteAnswer[engine::code_of(completion.task)](out, completion);
  } else {
    write_failure(out, completion);
  }
  return out.end();
}

}  // namespace tessera::abi
