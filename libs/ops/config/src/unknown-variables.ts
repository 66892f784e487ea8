import { closest, distance } from 'fastest-levenshtein';
import { CONFIG_KEYS, configSchema, VARIABLE_PREFIX } from './schema.js';

/** Letters that a typing mistake changes. */
const TYPO_LETTERS_MAX = 2;

/**
 * Variables that Kubernetes sets for each service of a namespace, in the form of Docker's links: of
 * a service called `tessera`, names that begin like ours (kubernetes.io, "Discovering services").
 */
const OF_AN_ORCHESTRATOR =
  /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)$/;

/** Table of what decides in place of a key of earlier versions. */
export const REMOVED_KEYS = 'CHANGELOG.md, Removed keys';

/** Areas of earlier versions: their variables are refused as those of an area are. */
const EARLIER_AREAS = ['TESSERA_TASKS_', 'TESSERA_TRACING_'];

const VARIABLES = CONFIG_KEYS.map(({ variable }) => variable);
const AREAS = Object.keys(configSchema.shape).map(
  (area) => `${VARIABLE_PREFIX}${area.replace(/[A-Z]/g, '_$&').toUpperCase()}_`,
);

/** A link's address, which only an orchestrator sets: `TESSERA_GRPC_PORT=tcp://10.0.0.1:50051`. */
const LINK = /^(tcp|udp|sctp):\/\/[^/]*:\d+$/;

/** True for what an orchestrator sets for a service whose name begins as ours, also for a key. */
export function isOfOrchestrator(variable: string, text: string): boolean {
  return OF_AN_ORCHESTRATOR.test(variable) || LINK.test(text);
}

/**
 * The fault of a variable of our prefix that is no key; '' where it is somebody else's and
 * only looks alike: a typo must not go unnoticed, and another program's variable must stop nothing.
 */
export function faultOfUnknown(variable: string): string {
  const near = closest(variable, VARIABLES);
  const isTypo = distance(variable, near) <= TYPO_LETTERS_MAX;
  const isOfOurArea = [...AREAS, ...EARLIER_AREAS].some((area) => variable.startsWith(area));
  if (!isTypo && !isOfOurArea) return '';
  const expected = `a variable of docs/operate/configuration.md (removed ones: ${REMOVED_KEYS})`;
  return `${variable}: expected ${expected}, did you mean ${near}?`;
}
