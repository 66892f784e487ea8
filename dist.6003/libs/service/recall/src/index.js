export { describeItems } from "./domain/answer-facts.js";
export { ROW_BUDGET_MAX, rowBudgetFor } from "./domain/check-request.js";
export { TEMPERATURE_MIN } from "./domain/exploration.js";
export { parseFrequencyCaps } from "./domain/frequency-caps.js";
export { provenanceOf } from "./domain/preparation.js";
export { eligibilityText, pinVersion, readEligibility } from "./domain/reach-request.js";
export { BEAM_WIDTH, DEFAULT_RESULT_COUNT, RECALL_CHOICES } from "./domain/recall-choices.js";
export { certificateOf, SEARCHES } from "./domain/recall-types.js";
export { RecallOperations } from "./domain/runtime-types.js";
export { UseCases } from "./domain/use-cases.js";
export { createRecallRuntime } from "./recall-runtime.js";

//# sourceMappingURL=index.js.map