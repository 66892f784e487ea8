import { addon } from "./addon.js";
import { callNative } from "./native-error.js";
/** Reads a model's config.json alone. Throws MODEL_NOT_FOUND or MODEL_INVALID. */ export function readModelShape(modelPath) {
    return callNative(()=>addon().modelShape(modelPath));
}

//# sourceMappingURL=model-shape.js.map