import { staged } from "../suite.js";
import { bytesOfFacts, lostFacts } from "./facts-on-disk.js";
import { questionTimes } from "./question-times.js";
const STAGES = {
    bytes: bytesOfFacts,
    losses: lostFacts,
    questions: questionTimes
};
export const CONSOLE_STAGES = Object.keys(STAGES);
/** Facts of every recall: what they take, what is lost, and how fast they answer. */ export const consoleSuite = staged(STAGES);

//# sourceMappingURL=console-suite.js.map