/** Who may do what: tokens and certificates with their scopes. Of tokens only hashes are known. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';

export const SCOPES = ['push', 'activate', 'read'] as const;
export type Scope = (typeof SCOPES)[number];

export const GRANTS_MAX = 1000;
const TOKEN_BYTES_MAX = 1024;

const common = {
  /** What audits call the caller. */
  name: z.string().min(1).max(128),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** Not valid from then on; left out: for good. */
  expires: z.iso.datetime({ offset: true }).optional(),
};
const grantsSchema = z
  .array(
    z.union([
      z.strictObject({ ...common, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
      /** Common name of a certificate that the server's own authority has signed. */
      z.strictObject({ ...common, certificate: z.string().min(1).max(256) }),
    ]),
  )
  .max(GRANTS_MAX);

export type Grant = z.infer<typeof grantsSchema>[number];

/** Who calls, as a transport says it. */
export interface Credentials {
  /** Value of the header or metadata `authorization`. */
  readonly authorization?: string | undefined;
  /** Common name of the client's certificate, where the transport has checked it. */
  readonly certificate?: string | undefined;
}

/** A caller whose right was checked. */
export interface Principal {
  readonly name: string;
}

/** @throws TesseraError CONFIG_INVALID */
export function parseGrants(text: string, place: string): readonly Grant[] {
  try {
    return grantsSchema.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
    const message = `${place}: expected a list of tokens and certificates, came: ${reason}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'access.tokensPath', cause });
  }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** Looks at every grant, and as long at each, whichever it is. */
function ofToken(grants: readonly Grant[], token: string): Grant | undefined {
  const hash = hashOf(token);
  let found: Grant | undefined;
  for (const grant of grants) {
    if ('sha256' in grant && timingSafeEqual(hash, Buffer.from(grant.sha256, 'hex'))) found = grant;
  }
  return found;
}

function ofCertificate(grants: readonly Grant[], name: string): Grant | undefined {
  return grants.find((grant) => 'certificate' in grant && grant.certificate === name);
}

function unauthenticated(message: string): TesseraError {
  return new TesseraError('UNAUTHENTICATED', `authorization: ${message}`, {
    field: 'authorization',
  });
}

function grantOf(grants: readonly Grant[], { authorization, certificate }: Credentials): Grant {
  if (authorization !== undefined && authorization !== '') {
    const token = /^Bearer ([\x21-\x7e]+)$/.exec(authorization)?.[1];
    if (token === undefined || token.length > TOKEN_BYTES_MAX) {
      throw unauthenticated("expected 'Bearer TOKEN', came something else");
    }
    const grant = ofToken(grants, token);
    if (grant === undefined) throw unauthenticated('expected a known token, came another');
    return grant;
  }
  const grant = certificate === undefined ? undefined : ofCertificate(grants, certificate);
  if (grant === undefined) throw unauthenticated("expected 'Bearer TOKEN', came nothing");
  return grant;
}

/** @throws TesseraError UNAUTHENTICATED; PERMISSION_DENIED for a scope that is not granted */
export function authorized(
  grants: readonly Grant[],
  credentials: Credentials,
  scope: Scope,
  nowMs: number,
): Principal {
  const { name, scopes, expires } = grantOf(grants, credentials);
  if (expires !== undefined && Date.parse(expires) <= nowMs) {
    throw unauthenticated(`expected a token that is valid, came one that expired at ${expires}`);
  }
  if (scopes.includes(scope)) return { name };
  const had = scopes.join(', ');
  const message = `authorization: expected the scope '${scope}', '${name}' has ${had}`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'authorization' });
}
