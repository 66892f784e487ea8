export {
  METHODS,
  type Method,
  methodAt,
  methodOf,
  type Queue,
  type Routing,
  rpcOf,
} from './methods.js';
export { ROUTES, routeRule } from './routes.js';
