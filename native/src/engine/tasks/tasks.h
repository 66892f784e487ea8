// All kinds of request, by the code that names them at the boundary.
#pragma once

#include <cstdint>

namespace tessera::engine {

class Task;

const Task& recall_task();     // a beam search for items
const Task& score_task();      // log-probabilities of given paths
const Task& append_task();     // nothing but the prompt's keys and values, for the pool
const Task& relevance_task();  // logits of given tokens behind the prompt
const Task& rank_task();       // heads over given items behind the prompt

/// Null for a code that no kind of request has.
const Task* task_of(uint32_t code);
/// The code of a kind of request; 0 for null.
uint32_t code_of(const Task* task);

}  // namespace tessera::engine
