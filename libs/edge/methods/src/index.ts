export {
  METHODS,
  type Method,
  methodAt,
  methodOf,
  type Queue,
  type Routing,
  roleOf,
  rpcOf,
} from './methods.js';
export { ROUTES, routeRule } from './routes.js';
