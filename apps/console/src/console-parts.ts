import type { AuditLog } from '@tessera/access';
import type { Activated, Activation, RolledBack } from '@tessera/adapter';
import type { InspectedRecalls, InspectionStore } from '@tessera/inspection';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallRequest, RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import type { AnalysisPort } from './analysis-port.js';
import type { RelevancePage } from './api-types.js';
import type { ClusterPort } from './cluster-port.js';
import type { ConsoleAccess, Visitor } from './console-access.js';
import type { LoginAccess } from './login-access.js';
import type { QuestionFile } from './questions.js';

export interface ConsoleLimits {
  readonly defaultDeadlineMs: number;
  /** Seconds of an SQL query. */
  readonly sqlSeconds: number;
  /** Rows of an answer to an SQL query. */
  readonly sqlRowsMax: number;
  readonly exportSeconds: number;
  readonly exportRowsMax: number;
  /** Users of a comparison. */
  readonly compareUsersMax: number;
}

/** Limits of the console: what a page shows and a person waits for. */
export const CONSOLE_LIMITS: Omit<ConsoleLimits, 'defaultDeadlineMs'> = {
  sqlSeconds: 10,
  sqlRowsMax: 1000,
  exportSeconds: 300,
  exportRowsMax: 10_000_000,
  compareUsersMax: 1000,
};

interface Named {
  readonly name: string;
  readonly digest: string;
}

/** Actions on versions of adapters; they reject with ADAPTER_STATE where none are kept. */
export interface AdapterActions {
  activateAs(actor: Visitor, version: Named, wanted: Activation): Promise<Activated>;
  rollBackAs(actor: Visitor, name: string): Promise<RolledBack>;
  pinAs(actor: Visitor, version: Named, isPinned: boolean): Promise<unknown>;
  deleteAs(actor: Visitor, version: Named): Promise<void>;
}

/** The parts of the process that the console uses; also its DI token. */
export abstract class ConsoleParts {
  abstract readonly runtime: RecallRuntime;
  abstract readonly recalls: InspectedRecalls;
  /** Undefined where nothing is recorded. */
  abstract readonly store: InspectionStore | undefined;
  /** Undefined where no facts are kept. */
  abstract readonly analysis: AnalysisPort | undefined;
  /** Questions in SQL that analysts keep. */
  abstract readonly questions: QuestionFile;
  /** All that is kept of a user; undefined where users cannot be erased. */
  abstract readonly eraseUser:
    | ((userId: string) => Promise<{ readonly known: boolean; readonly recalls: number }>)
    | undefined;
  /** The body of a recall over HTTP -> request. */
  abstract readonly parseRecall: (body: unknown) => { readonly request: RecallRequest };
  /** The body of a rerank over HTTP -> scores; MODEL_NOT_FOUND where no model scores texts. */
  abstract readonly scoreTexts: (body: unknown, signal: AbortSignal) => Promise<RelevancePage>;
  abstract readonly readiness: Readiness;
  abstract readonly access: ConsoleAccess;
  /** How people log in; undefined where nobody has to. */
  abstract readonly logins: LoginAccess | undefined;
  abstract readonly cluster: ClusterPort;
  /** Host that people ask for where a proxy asks for another; '': none. */
  abstract readonly publicHost: string;
  abstract readonly audits: Pick<AuditLog, 'write' | 'newest'>;
  /** Actions on versions of adapters; they audit themselves. */
  abstract readonly adapterActions: AdapterActions;
  abstract readonly countAction: (action: string, code: string) => void;
  abstract readonly limits: ConsoleLimits;
  abstract readonly serviceVersion: string;
  abstract readonly log: Log;
  abstract readonly nowMs: () => number;
}
