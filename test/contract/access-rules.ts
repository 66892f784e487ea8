import type { AccessRule } from '@tessera/access';
import { METHODS, ROUTES } from '@tessera/methods';

/** What each gRPC method asks of its caller, by path. */
export const METHOD_RULES: Readonly<Record<string, AccessRule>> = Object.fromEntries(
  METHODS.map(({ path, access }) => [path, access]),
);

/** What each HTTP route asks of its caller: of methods and others, as `GET /health`. */
export const ROUTE_RULES: Readonly<Record<string, AccessRule>> = {
  ...Object.fromEntries(
    METHODS.flatMap(({ http, alike = [], access }) =>
      [http, ...alike].flatMap((route) => (route === undefined ? [] : [[`POST ${route}`, access]])),
    ),
  ),
  ...ROUTES,
};
