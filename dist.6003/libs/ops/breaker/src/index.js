export { StoreBreaker } from "./store-breaker.js";

//# sourceMappingURL=index.js.map