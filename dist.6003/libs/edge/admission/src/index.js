export { EdgeAdmission } from "./edge-admission.js";

//# sourceMappingURL=index.js.map