/** Metrics of access and audits. */

import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { Counter, Gauge, type Registry } from 'prom-client';
import { combined } from './tallies.js';

export const ACCESS_METRICS = {
  accessRefused: {
    name: 'tessera_access_refused_total',
    meaning:
      'calls refused before their body was read, by edge (grpc, http) and code (a code of ' +
      'docs/operate/errors.md)',
  },
  accessOpen: {
    name: 'tessera_access_open',
    meaning: '1 while every caller may do everything (access.mode), else 0',
  },
  certificateExpires: {
    name: 'tessera_certificate_expires_seconds',
    meaning: 'seconds until a certificate expires, by the key of its file; below 0: expired',
  },
  auditLines: {
    name: 'tessera_audit_lines_total',
    meaning: 'lines of the audit log, by outcome (written, failed)',
  },
} as const;

/** Counts as libs/edge/access reports them. */
export interface AccessCounts {
  /** Refused calls by edge and code. */
  readonly refused: readonly { readonly edge: string; readonly code: string; count: number }[];
  readonly isOpen: boolean;
  readonly lines: { readonly written: number; readonly failed: number };
}

const ACCESS_EDGES = ['grpc', 'http'];
const CODES = ['UNAUTHENTICATED', 'PERMISSION_DENIED'];

/** Read at each scrape. */
export function registerCertificates(
  registry: Registry,
  read: () => readonly { readonly field: string; readonly endsMs: number }[],
): void {
  const { name, meaning } = ACCESS_METRICS.certificateExpires;
  new Gauge({
    name,
    help: meaning,
    labelNames: ['file'],
    registers: [registry],
    collect() {
      for (const { field, endsMs } of read()) {
        this.set({ file: field }, (endsMs - Date.now()) / MILLISECONDS_PER_SECOND);
      }
    },
  });
}

export function registerAccessMetrics(registry: Registry, read: () => AccessCounts): void {
  const registers = [registry];
  new Counter({
    name: ACCESS_METRICS.accessRefused.name,
    help: ACCESS_METRICS.accessRefused.meaning,
    labelNames: ['edge', 'code'],
    registers,
    collect() {
      this.reset();
      for (const [edge = '', code = ''] of combined(ACCESS_EDGES, CODES))
        this.inc({ edge, code }, 0);
      for (const { edge, code, count } of read().refused) this.inc({ edge, code }, count);
    },
  });
  new Gauge({
    name: ACCESS_METRICS.accessOpen.name,
    help: ACCESS_METRICS.accessOpen.meaning,
    registers,
    collect() {
      this.set(read().isOpen ? 1 : 0);
    },
  });
  new Counter({
    name: ACCESS_METRICS.auditLines.name,
    help: ACCESS_METRICS.auditLines.meaning,
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(read().lines)) this.inc({ outcome }, count);
    },
  });
}
