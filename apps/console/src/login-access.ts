import {
  type AccessControl,
  AttemptLimit,
  type AttemptSettings,
  type BegunLogin,
  type OidcHolder,
  type OidcLogin,
  roleOf,
  Seal,
  type SessionLimits,
  Sessions,
} from '@tessera/access';
import { TesseraError } from '@tessera/errors';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { parseCookie, type SerializeOptions, stringifySetCookie } from 'cookie';
import { ConsoleAccess, type Visitor, type VisitorRequest } from './console-access.js';

const SESSION_COOKIE = 'tessera-console';
/** Cookie of a login that was begun with a provider. */
const BEGUN_COOKIE = 'tessera-console-login';
const BEGUN_MS = 600_000;
/** Path of the API behind what a proxy puts before all paths. */
const API_PATH = '/console/api';
const LOGIN_PATH = `${API_PATH}/login`;
/** Path to which a provider sends the browser back. */
const RETURN_PATH = `${LOGIN_PATH}/oidc/return`;

export interface LoginParts {
  /** Undefined where there is no file of tokens. */
  readonly tokens: Pick<AccessControl, 'holder'> | undefined;
  /** Undefined where there is no provider. */
  readonly oidc: Pick<OidcLogin, 'begin' | 'end'> | undefined;
  /** Address that people reach the console at; '': the one that they ask for. */
  readonly publicUrl: string;
  readonly sessions: SessionLimits;
  readonly attempts: AttemptSettings;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/**
 * Holder of a session. A token is known by its hash: a token removed from the file ends at once.
 */
type Holder = { readonly tokenSha256: string } | OidcHolder;

interface Begun {
  readonly login: BegunLogin;
  /** Page that was asked for, behind the #. */
  readonly returnTo: string;
}

/** Values of the header `set-cookie`. */
export type SetCookies = string[];

export interface LoggedIn {
  readonly visitor: Visitor;
  readonly cookies: SetCookies;
}

/** People log in with a token or with a provider, and have a session from then on. */
export class LoginAccess extends ConsoleAccess {
  private readonly sessions: Sessions<Holder>;
  private readonly attempts: AttemptLimit;
  private readonly seal: Seal<Begun>;

  constructor(private readonly parts: LoginParts) {
    super();
    const { sessions, attempts, nowMs } = parts;
    this.sessions = new Sessions(sessions, nowMs);
    this.attempts = new AttemptLimit(attempts, nowMs);
    this.seal = new Seal(BEGUN_MS, nowMs);
  }

  /** How one may log in. */
  get ways(): { readonly token: boolean; readonly oidc: boolean } {
    return { token: this.parts.tokens !== undefined, oidc: this.parts.oidc !== undefined };
  }

  /** A caller with a token needs no session. */
  async visitor({ cookie, authorization }: VisitorRequest): Promise<Visitor | undefined> {
    if (authorization !== '') return this.visitorOf({ token: tokenOf(authorization) });
    const id = cookieOf(cookie, SESSION_COOKIE);
    const holder = id === undefined ? undefined : this.sessions.find(id);
    if (holder === undefined) return undefined;
    if (!('tokenSha256' in holder)) return { name: holder.name, role: holder.role };
    return this.visitorOf({ sha256: holder.tokenSha256 });
  }

  private visitorOf(by: Parameters<AccessControl['holder']>[0]): Visitor | undefined {
    try {
      const { name, scopes } = this.tokens().holder(by);
      const role = roleOf(scopes);
      return role && { name, role };
    } catch (thrown) {
      if (TesseraError.from(thrown).code === 'UNAUTHENTICATED') return undefined;
      throw thrown;
    }
  }

  /** Rejects with UNAUTHENTICATED, PERMISSION_DENIED, TOO_MANY_ATTEMPTS, CONFIG_INVALID. */
  logIn(token: string, request: VisitorRequest, address: string): Promise<LoggedIn> {
    return this.attempts.attempt(address, async () => {
      const { name, scopes, sha256 } = this.tokens().holder({ token });
      const role = roleOf(scopes);
      if (role === undefined) {
        const message =
          `role: expected a token with the scope read, operate or admin, '${name}' has ` +
          scopes.join(', ');
        throw new TesseraError('PERMISSION_DENIED', message, { field: 'role' });
      }
      return this.entered({ tokenSha256: sha256 }, { name, role }, request);
    });
  }

  /** Address to send the browser to. Rejects with ISSUER_UNAVAILABLE, REQUEST_INVALID. */
  async beginOidc(
    { host }: VisitorRequest,
    returnTo: string,
  ): Promise<{ readonly url: string; readonly cookies: SetCookies }> {
    const { origin } = new URL(this.parts.publicUrl || `http://${host}`);
    const redirectUri = origin + this.prefix + RETURN_PATH;
    const { url, begun: login } = await this.oidc().begin(redirectUri);
    // Not strict: the browser comes back from the provider's page.
    const sealed = this.seal.close({ login, returnTo });
    return { url, cookies: [this.begunCookie(sealed, BEGUN_MS)] };
  }

  /**
   * Rejects with UNAUTHENTICATED, PERMISSION_DENIED, TOO_MANY_ATTEMPTS, ISSUER_UNAVAILABLE.
   * @param query what the provider has sent the browser back with
   */
  endOidc(
    query: string,
    request: VisitorRequest,
    address: string,
  ): Promise<LoggedIn & { readonly returnTo: string; readonly subject: string }> {
    return this.attempts.attempt(address, async () => {
      const begun = this.seal.open(cookieOf(request.cookie, BEGUN_COOKIE) ?? '');
      if (begun === undefined) {
        const message = 'login: expected one that was begun here and lately, got another';
        throw new TesseraError('UNAUTHENTICATED', message, { field: 'login' });
      }
      const holder = await this.oidc().end(query, begun.login);
      const { name, role, subject } = holder;
      // Set at another path than those it is for, it needs one of its own.
      const path = this.prefix + API_PATH;
      const { visitor, cookies } = this.entered(holder, { name, role }, request, path);
      const ended = this.begunCookie('', 0);
      return { visitor, subject, returnTo: begun.returnTo, cookies: [...cookies, ended] };
    });
  }

  logOut({ cookie }: VisitorRequest): SetCookies {
    this.sessions.end(cookieOf(cookie, SESSION_COOKIE) ?? '');
    return [this.cookie(SESSION_COOKIE, '', 0, { sameSite: 'strict' })];
  }

  /** A new session, whatever the browser had before. */
  private entered(
    holder: Holder,
    visitor: Visitor,
    request: VisitorRequest,
    path?: string,
  ): LoggedIn {
    this.logOut(request);
    const id = this.sessions.begin(holder);
    const { lifetimeMs } = this.parts.sessions;
    const cookie = this.cookie(SESSION_COOKIE, id, lifetimeMs, { sameSite: 'strict', path });
    return { visitor, cookies: [cookie] };
  }

  /** A path that a proxy takes off, by the address that people use. */
  private get prefix(): string {
    const { publicUrl } = this.parts;
    return publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
  }

  private begunCookie(value: string, lifetimeMs: number): string {
    const path = this.prefix + LOGIN_PATH;
    return this.cookie(BEGUN_COOKIE, value, lifetimeMs, { sameSite: 'lax', path });
  }

  /**
   * A cookie without a path is for that of the API, as the browser sees it behind any proxy
   * (RFC 6265, section 5.1.4): `.../console/api/login` sets it.
   */
  private cookie(
    name: string,
    value: string,
    lifetimeMs: number,
    { sameSite, path }: { readonly sameSite: 'strict' | 'lax'; readonly path?: string | undefined },
  ): string {
    const options: SerializeOptions = {
      httpOnly: true,
      secure: this.parts.publicUrl.startsWith('https:'),
      sameSite,
      ...(path !== undefined && { path }),
      maxAge: Math.floor(lifetimeMs / MILLISECONDS_PER_SECOND),
    };
    return stringifySetCookie(name, value, options);
  }

  private tokens(): Pick<AccessControl, 'holder'> {
    return this.parts.tokens ?? absent('token', 'access.tokensPath');
  }

  private oidc(): Pick<OidcLogin, 'begin' | 'end'> {
    return this.parts.oidc ?? absent('provider', 'oidc.issuer');
  }
}

function absent(what: string, key: string): never {
  const message = `login: expected a way that is configured, got a ${what}; see ${key}`;
  throw new TesseraError('REQUEST_INVALID', message, { field: 'login' });
}

/** '' where it bears none. */
function tokenOf(authorization: string): string {
  return /^Bearer (.+)$/i.exec(authorization)?.[1] ?? '';
}

function cookieOf(header: string, name: string): string | undefined {
  return parseCookie(header)[name];
}
