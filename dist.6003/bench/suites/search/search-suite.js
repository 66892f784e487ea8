import { staged } from "../suite.js";
import { answersStage } from "./answers-stage.js";
import { flatStage } from "./flat-stage.js";
import { halfStage, qualityStage } from "./quality-stage.js";
import { predictionStage, rowsStage } from "./rows-stage.js";
import { tenMillionStage } from "./ten-million-stage.js";
import { lastStepStage, timesStage } from "./times-stage.js";
const STAGES = {
    answers: answersStage,
    rows: rowsStage,
    prediction: predictionStage,
    times: timesStage,
    'last-step': lastStepStage,
    quality: qualityStage,
    half: halfStage,
    flat: flatStage,
    'ten-million': tenMillionStage
};
export const SEARCH_STAGES = Object.keys(STAGES);
/** Certified searches: whether they are right, what they cost, and what they find. */ export const searchSuite = staged(STAGES);

//# sourceMappingURL=search-suite.js.map