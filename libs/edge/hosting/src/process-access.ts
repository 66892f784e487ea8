import { statSync } from 'node:fs';
import {
  AccessControl,
  type AuditCounts,
  AuditLog,
  ChangeAudits,
  EdgeGuard,
  isLoopback,
  OwnSite,
} from '@tessera/access';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { Conditions } from '@tessera/lifecycle';
import type { AccessCounts, Log } from '@tessera/telemetry';

/** The slice of the configuration that says who may do what. */
export type AccessConfig = Pick<Config, 'access' | 'grpc' | 'http' | 'login' | 'oidc' | 'console'>;

interface Audits extends Pick<AuditLog, 'write' | 'newest' | 'close'> {
  readonly counts: AuditCounts;
}

const NOWHERE: Audits = {
  counts: { written: 0, failed: 0 },
  write: async () => undefined,
  newest: async () => ({ entries: [], isWhole: true }),
  close: async () => undefined,
};

/** People can log in to the console of this process with a provider. */
const hasProvider = ({ console, oidc }: AccessConfig) =>
  console.pages === 'on' && oidc.issuer !== '';

/**
 * An edge that other machines reach serves nobody knows whom: that has to be said on purpose.
 * @throws TesseraError CONFIG_INVALID with the remedy
 */
export function refuseOpenDoors(config: AccessConfig): void {
  const { access, grpc, http } = config;
  if (access.tokensPath !== '' || access.mode === 'open') return;
  for (const [area, { host }] of Object.entries({ grpc, http })) {
    if (isLoopback(host) || (area === 'http' && hasProvider(config))) continue;
    const field = `${area}.host`;
    const message =
      `${field}: expected a loopback address such as 127.0.0.1 where nothing says who may do ` +
      `what, got ${host}; name a file of tokens in access.tokensPath ` +
      `(docs/operate/security.md), or set ` +
      'access.mode to open to let everybody who reaches it do everything';
    throw new TesseraError('CONFIG_INVALID', message, { field });
  }
}

const READABLE_BY_ALL = 0o004;

/** Tokens are secrets; hashes of them can be guessed at where they are short. */
function warnOfOpenFile(tokensPath: string, log: Log): void {
  if (tokensPath === '') return;
  const { mode } = statSync(tokensPath);
  if ((mode & READABLE_BY_ALL) === 0) return;
  const octal = (mode & 0o777).toString(8);
  log.warn({ tokensPath, mode: octal }, 'access.tokensPath can be read by all: expected 0640');
}

/** Permissions of callers in this process, and the log of changes. */
export class ProcessAccess {
  private readonly refusals = new Map<string, AccessCounts['refused'][number]>();

  private constructor(
    private readonly config: AccessConfig,
    readonly control: AccessControl,
    readonly audits: Audits,
    readonly changes: ChangeAudits,
  ) {}

  /**
   * Rejects with CONFIG_INVALID for a bad file of tokens or doors that nobody opened on purpose,
   * IO_FAILED for a log that cannot be had.
   * @param auditPath '' : changes are not written down
   */
  static async open(config: AccessConfig, auditPath: string, log: Log): Promise<ProcessAccess> {
    refuseOpenDoors(config);
    const { tokensPath, mode } = config.access;
    const onFault = (err: unknown) => {
      if (err === undefined) log.info({}, 'access.tokensPath is read again');
      else log.error({ err }, 'access.tokensPath cannot be read: what was read last counts');
    };
    const control = await AccessControl.open({ tokensPath, mode, onFault });
    warnOfOpenFile(tokensPath, log);
    const audits = auditPath === '' ? NOWHERE : await AuditLog.open(auditPath);
    const changes = new ChangeAudits({
      log: audits,
      onFailed: (error, entry) => {
        log.error({ err: error, ...entry }, 'a change has happened and could not be audited');
      },
      nowMs: Date.now,
    });
    const access = new ProcessAccess(config, control, audits, changes);
    if (access.isOpen) {
      log.warn(
        { mode },
        'access.mode is open: everybody who reaches the service may do everything',
      );
    }
    return access;
  }

  /** True if callers need no identity, though other machines reach the service. */
  get isOpen(): boolean {
    const { access, grpc, http } = this.config;
    return access.mode === 'open' && !(isLoopback(grpc.host) && isLoopback(http.host));
  }

  /** The file of tokens as a condition, watched; nothing where there is none. */
  addTo(conditions: Conditions): void {
    if (this.config.access.tokensPath === '') return;
    this.control.watch();
    const read = () => this.control.reach();
    conditions.add({ name: 'access', kind: 'dependency', isNeeded: false, read });
  }

  counts(): AccessCounts {
    const { written, failed } = this.audits.counts;
    const refused = [...this.refusals.values()];
    return { refused, isOpen: this.isOpen, lines: { written, failed } };
  }

  guard(edge: 'grpc' | 'http'): EdgeGuard {
    const { host } = this.config[edge];
    const { control, changes } = this;
    const onRefused = (of: string, code: string) => this.countRefused(of, code);
    return new EdgeGuard({ control, edge, host, changes, onRefused });
  }

  site(): OwnSite {
    const { http, login } = this.config;
    const { host, publicNames } = http;
    const isGuarded = this.control.asks(host);
    return new OwnSite({ host, publicNames, publicUrl: login.publicUrl, isGuarded });
  }

  async close(): Promise<void> {
    this.control.close();
    await this.changes.close();
    await this.audits.close();
  }

  private countRefused(edge: string, code: string): void {
    const key = `${edge} ${code}`;
    const known = this.refusals.get(key);
    if (known === undefined) this.refusals.set(key, { edge, code, count: 1 });
    else known.count += 1;
  }
}
