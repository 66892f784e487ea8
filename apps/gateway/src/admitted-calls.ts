import { EdgeAdmission, endOf, type PriorityClass } from '@tessera/admission';
import { type CallLimits, LOOP_LAG } from '@tessera/call';
import { enumWords } from '@tessera/contracts';
import { methodOf, type Queue } from '@tessera/methods';
import { FORWARDED } from './grpc/forwarded-methods.js';
import { fieldNumber, hasField, messagesOf } from './grpc/message-fields.js';
import { numberAt } from './grpc/wire-path.js';
import { errorOf } from './node-failure.js';

/** Calls of one queue that may be on their way through a gateway at once. */
const CALLS_MAX = 10_000;
const PRIORITIES: Readonly<Record<string, number>> = enumWords['tessera.recall.v1.Priority'];

/** Number of the field with the priority, by path of the method. */
const PRIORITY_AT = new Map(
  [...FORWARDED.keys()].flatMap((path) => {
    const { request } = messagesOf(path);
    const isQueued = methodOf(path)?.queue !== undefined && hasField(request, 'priority');
    return isQueued ? [[path, fieldNumber(request, 'priority')] as const] : [];
  }),
);

const classOf = (priority: number | undefined): PriorityClass =>
  priority === PRIORITIES.high ? 0 : priority === PRIORITIES.low ? 2 : 1;

/** The class of a message; `normal` where it names none. */
export function classAt(path: string, message: Uint8Array): PriorityClass {
  const at = PRIORITY_AT.get(path);
  return at === undefined ? 1 : classOf(numberAt(message, at));
}

/** The class of the word in a body. */
export const classIn = (priority: unknown): PriorityClass => classOf(PRIORITIES[String(priority)]);

interface Forwarded {
  readonly cls: PriorityClass;
  /** Until the caller has an answer, milliseconds since 1970; Infinity: it names no time. */
  readonly deadlineMs: number;
  /** True once the caller has gone. */
  readonly isGone: () => boolean;
}

/**
 * Admission of the calls that a gateway passes on: what its thread and its nodes answer together,
 * as the gateway sees it. One instance for all edges of the process.
 */
export class AdmittedCalls {
  readonly admissions: Readonly<Record<Queue, EdgeAdmission>>;

  constructor(private readonly limits: CallLimits) {
    const admission = () => new EdgeAdmission({ inFlightMax: CALLS_MAX });
    this.admissions = { decoder: admission(), relevance: admission(), embedding: admission() };
  }

  /**
   * Passes a call on with a place in the admission of its queue. Rejects as `act`, and with
   * ENGINE_OVERLOADED where it would be answered too late.
   */
  async run<Answer>(
    path: string,
    { cls, deadlineMs, isGone }: Forwarded,
    act: () => Promise<Answer>,
  ): Promise<Answer> {
    const queue = methodOf(path)?.queue;
    if (queue === undefined) return act();
    const { defaultDeadlineMs, deadlineMsMax } = this.limits;
    const namedMs = deadlineMs - Date.now();
    const leftMs = namedMs === Number.POSITIVE_INFINITY ? defaultDeadlineMs : namedMs;
    const withinMs = LOOP_LAG.within(Math.min(leftMs, deadlineMsMax));
    const place = this.admissions[queue].admit(cls, withinMs);
    try {
      const answer = await act();
      place.giveBack(isGone() ? 'gone' : 'answered');
      return answer;
    } catch (thrown) {
      place.giveBack(isGone() ? 'gone' : endOf(errorOf(thrown).code));
      throw thrown;
    }
  }
}
