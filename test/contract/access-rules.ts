import type { AccessRule } from '@tessera/access';
import { METHODS, ROUTES } from '@tessera/methods';

/** Access rule of each gRPC method, by path. */
export const METHOD_RULES: Readonly<Record<string, AccessRule>> = Object.fromEntries(
  METHODS.map(({ path, access }) => [path, access]),
);

/** Access rule of each HTTP route: of methods and others, as `GET /health`. */
export const ROUTE_RULES: Readonly<Record<string, AccessRule>> = {
  ...Object.fromEntries(
    METHODS.flatMap(({ http, alike = [], access }) =>
      [http, ...alike].flatMap((route) => (route === undefined ? [] : [[`POST ${route}`, access]])),
    ),
  ),
  ...ROUTES,
};
