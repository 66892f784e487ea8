/**
 * The HTTP routes that are no methods, each with what its caller needs; those of methods come from
 * their rows.
 */

import type { AccessRule, Role, Scope } from '@tessera/access';
import { methodAt } from './methods.js';

const open: AccessRule = { need: 'open' };
const asks = (scope: Scope): AccessRule => ({ need: { scope } });
const page = (role: Role, action?: string): AccessRule => ({
  need: { role },
  ...(action !== undefined && { action }),
});

/** Rules by HTTP method and route. */
export const ROUTES: Readonly<Record<string, AccessRule>> = {
  'GET /v1/models': asks('embed'),
  'GET /info': asks('embed'),
  'GET /v1/cluster': asks('metrics'),
  'GET /v1/cluster/partitions': asks('metrics'),
  'POST /v1/cluster/route': asks('metrics'),
  'GET /health': open,
  'GET /health/ready': open,
  'GET /health/current': open,
  'GET /health/live': open,
  'GET /metrics': asks('metrics'),
  // A description of the API without any data: browsers open pages without a token.
  'GET /docs': open,
  'GET /docs/*': open,
  'GET /docs/swagger-initializer.js': open,
  'GET /docs-json': open,
  'GET /docs-json/console': open,
  // The pages ask the routes below for everything that they show.
  'GET /console': open,
  'GET /console/*': open,
  'GET /console/api/login': open,
  'POST /console/api/login': open,
  'DELETE /console/api/login': open,
  'POST /console/api/login/oidc': open,
  'GET /console/api/login/oidc/return': open,
  'GET /console/api/about': page('read'),
  'GET /console/api/cluster': page('read'),
  'GET /console/api/live': page('read'),
  'GET /console/api/recalls': page('read'),
  'POST /console/api/recalls': page('read'),
  'GET /console/api/recalls/:id': page('read'),
  'POST /console/api/recalls/:id/explain': page('read'),
  'POST /console/api/recalls/:id/notes': page('read', 'add-note'),
  'DELETE /console/api/recalls/:id/notes/:note': page('read', 'remove-note'),
  'GET /console/api/users': page('read'),
  'GET /console/api/users/:id': page('read'),
  'DELETE /console/api/users/:id': page('operate', 'erase-user'),
  'GET /console/api/items': page('read'),
  'GET /console/api/items/:id/place': page('read'),
  'GET /console/api/catalogue': page('read'),
  'GET /console/api/catalogue/changes': page('read'),
  'GET /console/api/catalogue/names': page('read'),
  'POST /console/api/catalogue/landing': page('read'),
  'POST /console/api/relevance': page('read'),
  'POST /console/api/catalogue/roll-back': page('admin', 'roll-back-catalogue'),
  'POST /console/api/catalogue/imports': page('admin', 'import-changes'),
  'POST /console/api/catalogue/imports/:id/lines': page('admin', 'import-changes'),
  'POST /console/api/catalogue/imports/:id/apply': page('admin', 'import-changes'),
  'DELETE /console/api/catalogue/imports/:id': page('admin', 'import-changes'),
  'GET /console/api/adapters': page('read'),
  'GET /console/api/adapters/changes': page('read'),
  'POST /console/api/adapters/:name/:digest/activate': page('admin', 'activate'),
  'POST /console/api/adapters/:name/roll-back': page('admin', 'rollback'),
  'POST /console/api/adapters/:name/:digest/pin': page('admin', 'pin'),
  'DELETE /console/api/adapters/:name/:digest/pin': page('admin', 'unpin'),
  'DELETE /console/api/adapters/:name/:digest': page('admin', 'delete'),
  'GET /console/api/analysis/about': page('read'),
  'GET /console/api/analysis/schema': page('read'),
  'GET /console/api/analysis/overview': page('read'),
  'GET /console/api/analysis/composition': page('read'),
  'GET /console/api/analysis/reach': page('read'),
  'GET /console/api/analysis/unreached': page('read'),
  'GET /console/api/analysis/versions': page('read'),
  'GET /console/api/analysis/outcomes': page('read'),
  'GET /console/api/analysis/tables/:name': page('read'),
  'GET /console/api/analysis/ads/:id': page('read'),
  'GET /console/api/analysis/items': page('read'),
  'GET /console/api/analysis/change': page('read'),
  'POST /console/api/exports': page('read', 'export'),
  'GET /console/api/exports/:id': page('read'),
  'GET /console/api/exports/:id/file': page('read'),
  'DELETE /console/api/exports/:id': page('read'),
  'POST /console/api/comparisons': page('read'),
  'GET /console/api/comparisons': page('read'),
  'GET /console/api/comparisons/:id': page('read'),
  'DELETE /console/api/comparisons/:id': page('read', 'remove-comparison'),
  'POST /console/api/comparisons/:id/notes': page('read', 'add-note'),
  'DELETE /console/api/comparisons/:id/notes/:note': page('read', 'remove-note'),
  'POST /console/api/sql': page('read'),
  'GET /console/api/sets': page('read'),
  'POST /console/api/sets': page('read', 'save-set'),
  'DELETE /console/api/sets/:name': page('read', 'remove-set'),
  'GET /console/api/questions': page('read'),
  'POST /console/api/questions': page('read', 'save-question'),
  'DELETE /console/api/questions/:name': page('read', 'remove-question'),
};

/** Rule for the caller of a route; HEAD as GET. Undefined: there is no such route. */
export function routeRule(method: string, route: string): AccessRule | undefined {
  const rule = ROUTES[`${method === 'HEAD' ? 'GET' : method} ${route}`];
  return rule ?? (method === 'POST' ? methodAt(route)?.access : undefined);
}
