import { join } from 'node:path';
import { isLoopback } from '@tessera/access';
import { askEdge, clusterState, PLAIN, peerConnection, userRoute } from '@tessera/client';
import { type Config, followsLog, repositoryRoot } from '@tessera/config';
import { FILE_SYSTEM } from '@tessera/files';
import type { InspectedRecalls, InspectionStore } from '@tessera/inspection';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallRuntime } from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import type { Log, Metrics } from '@tessera/telemetry';
import { MILLISECONDS_PER_MINUTE } from '@tessera/units';
import {
  type AnalysisPort,
  type ClusterPort,
  CONSOLE_LIMITS,
  type ConsoleParts,
  LoginAccess,
  LoopbackAccess,
  QuestionFile,
} from '../../console/src/index.js';
import { type ErasesUsers, eraseWhole } from '../../feature/src/index.js';
import { type AdapterEdge, readJsonRecall } from '../../retrieval/src/index.js';
import type { Access } from './access.js';
import { consoleScores } from './console-relevance.js';

/** Folder into which the build puts the pages. */
export const PAGES_FOLDER = join(repositoryRoot, 'build', 'console');

/** File of saved questions, in the folder of recorded recalls. */
const QUESTIONS_FILE = 'questions.json';

/** People logged in at once; one more ends the session that is idle longest. */
const SESSIONS_MAX = 1000;
/** Failed logins of one address: ten typing mistakes in a quarter of an hour. */
const ATTEMPTS = { failuresMax: 10, windowMs: 15 * MILLISECONDS_PER_MINUTE };

export interface ConsoleNeeds {
  readonly config: Config;
  readonly runtime: RecallRuntime;
  readonly recalls: InspectedRecalls;
  /** Undefined where users cannot be erased. */
  readonly erasure: ErasesUsers | undefined;
  readonly store: InspectionStore | undefined;
  readonly analysis: AnalysisPort | undefined;
  readonly readiness: Readiness;
  readonly serviceVersion: string;
  readonly access: Access;
  readonly adapters: AdapterEdge;
  /** Undefined where no model scores texts. */
  readonly relevance: RelevanceScorer | undefined;
  readonly metrics: Pick<Metrics, 'countConsoleAction'>;
  readonly log: Log;
}

/** Undefined, so no login, on a loopback address without tokens or provider. */
function loginsOf({ http, access, login }: Config, { process, oidc }: Access) {
  const tokens = access.tokensPath === '' ? undefined : process.control;
  if (isLoopback(http.host) && tokens === undefined && oidc === undefined) return undefined;
  const { publicUrl, sessionMinutes } = login;
  return new LoginAccess({
    tokens,
    oidc,
    publicUrl,
    nowMs: Date.now,
    sessions: { countMax: SESSIONS_MAX, lifetimeMs: sessionMinutes * MILLISECONDS_PER_MINUTE },
    attempts: ATTEMPTS,
  });
}

/** The cluster that this node is one of, asked as this process. */
function clusterOf({ console: { gateway }, cluster, node, peer, recall }: Config): ClusterPort {
  const timeoutMs = recall.deadlineMsMax;
  // The files of a process that asks nobody are not read.
  const connection = gateway === '' ? PLAIN : peerConnection(peer);
  return {
    node: node.name,
    gateway,
    state: () => clusterState(gateway, connection),
    route: (userId) => userRoute(gateway, userId, connection),
    forget: async (userId) => {
      if (followsLog({ cluster })) return;
      const body = { userId };
      const path = '/v1/kv/drop-user';
      await askEdge({ method: 'POST', address: gateway, path, body, timeoutMs }, connection);
    },
    ask: (call) => askEdge(call, connection),
  };
}

/** The parts of the console; undefined where it is not served. */
export function consoleParts(needs: ConsoleNeeds): ConsoleParts | undefined {
  const { config, runtime, recalls, erasure, store, readiness, serviceVersion, log } = needs;
  const { access, metrics, adapters, relevance, analysis } = needs;
  const { publicUrl } = config.login;
  const { defaultDeadlineMs } = config.recall;
  if (config.console.pages === 'off') return undefined;
  const logins = loginsOf(config, access);
  return {
    runtime,
    recalls,
    store,
    analysis,
    questions: new QuestionFile(
      config.inspection.path === '' ? '' : join(config.inspection.path, QUESTIONS_FILE),
      FILE_SYSTEM,
    ),
    eraseUser: erasure && ((userId) => eraseWhole(erasure, userId)),
    parseRecall: readJsonRecall,
    scoreTexts: consoleScores({ relevance, facts: runtime.facts, limits: config.recall }),
    readiness,
    access: logins ?? new LoopbackAccess(),
    logins,
    publicHost: publicUrl === '' ? '' : new URL(publicUrl).host,
    cluster: clusterOf(config),
    audits: access.process.audits,
    adapterActions: adapters,
    countAction: (action, code) => metrics.countConsoleAction(action, code),
    limits: { defaultDeadlineMs, ...CONSOLE_LIMITS },
    serviceVersion,
    log,
    nowMs: Date.now,
  };
}
