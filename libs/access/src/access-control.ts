import { readFile, stat } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import {
  authorized,
  type Credentials,
  type Grant,
  type Principal,
  parseGrants,
  type Scope,
  type TokenHolder,
  tokenHolder,
} from './domain/grants.js';

const FILE_BYTES_MAX = 1 << 20;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/** Whether an address is reached from its own machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

export interface AccessSettings {
  /** JSON file of grants; '' for none. */
  readonly tokensPath: string;
  /** Address that the service listens on. */
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
}

/** Of a caller from whom nothing is asked. */
const ANYBODY: Principal = { name: 'loopback' };

/**
 * Who may do what. Without a file of grants everybody may do everything where the service can be
 * reached from its own machine alone, and nobody anything elsewhere. The file is read at each
 * question: what is taken away there is gone at once.
 */
export class AccessControl {
  private constructor(private readonly settings: AccessSettings) {}

  /** Rejects with CONFIG_INVALID where the file is not readable or not one of grants. */
  static async open(settings: AccessSettings): Promise<AccessControl> {
    const access = new AccessControl(settings);
    if (settings.tokensPath !== '') await access.grants();
    return access;
  }

  /** Rejects with UNAUTHENTICATED, PERMISSION_DENIED, CONFIG_INVALID. */
  async authorize(credentials: Credentials, scope: Scope): Promise<Principal> {
    const { tokensPath, host, nowMs = Date.now } = this.settings;
    if (tokensPath !== '') return authorized(await this.grants(), credentials, scope, nowMs());
    if (isLoopback(host)) return ANYBODY;
    const message =
      'authorization: expected access.tokensPath to name a file of tokens, since the service ' +
      `listens on ${host}, came none`;
    throw new TesseraError('UNAUTHENTICATED', message, { field: 'authorization' });
  }

  /** Whose token it is, or whose hash of one. Rejects with UNAUTHENTICATED, CONFIG_INVALID. */
  async holder(by: { readonly token: string } | { readonly sha256: string }): Promise<TokenHolder> {
    return tokenHolder(await this.grants(), by, this.settings.nowMs?.() ?? Date.now());
  }

  private async grants(): Promise<readonly Grant[]> {
    const { tokensPath } = this.settings;
    const found = await stat(tokensPath).catch((cause: Error) => {
      throw unreadable(tokensPath, cause.message, cause);
    });
    if (found.size > FILE_BYTES_MAX) {
      throw unreadable(tokensPath, `more than ${FILE_BYTES_MAX} bytes`);
    }
    return parseGrants(await readFile(tokensPath, 'utf8'), tokensPath);
  }
}

function unreadable(path: string, came: string, cause?: unknown): TesseraError {
  const message = `access.tokensPath: ${path}: expected a file of tokens, came: ${came}`;
  return new TesseraError('CONFIG_INVALID', message, { field: 'access.tokensPath', cause });
}
