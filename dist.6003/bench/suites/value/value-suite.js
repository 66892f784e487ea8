import { staged } from "../suite.js";
import { answersStage, raisesStage, shocksStage } from "./answers-stage.js";
import { catalogueStage } from "./catalogue-stage.js";
import { estimatesStage } from "./estimates-stage.js";
import { worthStage } from "./worth-stage.js";
const STAGES = {
    answers: answersStage,
    raises: raisesStage,
    shocks: shocksStage,
    worth: worthStage,
    catalogue: catalogueStage,
    estimates: estimatesStage
};
export const VALUE_STAGES = Object.keys(STAGES);
export const valueSuite = staged(STAGES);

//# sourceMappingURL=value-suite.js.map