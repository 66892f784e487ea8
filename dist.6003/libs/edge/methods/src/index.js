export { METHODS, methodAt, methodOf, roleOf, rpcOf } from "./methods.js";
export { ROUTES, routeRule } from "./routes.js";

//# sourceMappingURL=index.js.map