import type { CertificateEnd, WatchedTls } from '@tessera/config';
import type { Conditions } from '@tessera/lifecycle';
import type { Log, Metrics } from '@tessera/telemetry';
import { MILLISECONDS_PER_DAY } from '@tessera/units';

/** A certificate that ends sooner is warned of, when it is read and once a day. */
const WARN_DAYS = 14;

export interface Watchers {
  readonly conditions: Conditions;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Follows the files of TLS of a process: their faults, and when their certificates end. */
export function watchCertificates(
  watched: readonly WatchedTls[],
  { conditions, metrics, log }: Watchers,
): void {
  if (watched.length === 0) return;
  const ends = () => watched.flatMap((tls) => tls.ends());
  metrics.showCertificates(ends);
  conditions.add({
    name: 'certificates',
    kind: 'dependency',
    isNeeded: false,
    read: () => {
      const reason = watched.flatMap((tls) => tls.reason || []).join('; ');
      return { state: reason === '' ? 'ok' : 'degraded', reason };
    },
  });
  for (const tls of watched) {
    tls.onChange(() => {
      log.info({ ends: endsText(tls) }, 'files of TLS were read again');
      warnOf(tls.ends(), log);
    });
    tls.watch();
  }
  warnOf(ends(), log);
  setInterval(() => warnOf(ends(), log), MILLISECONDS_PER_DAY).unref();
}

function warnOf(ends: readonly CertificateEnd[], log: Log): void {
  for (const { field, endsMs } of ends) {
    const days = Math.floor((endsMs - Date.now()) / MILLISECONDS_PER_DAY);
    if (days >= WARN_DAYS) continue;
    const what = days < 0 ? 'a certificate has ended' : 'a certificate ends soon';
    log.warn({ field, days, ends: new Date(endsMs).toISOString() }, what);
  }
}

const endsText = (tls: WatchedTls) =>
  tls.ends().map(({ field, endsMs }) => `${field} ${new Date(endsMs).toISOString()}`);
