import type { EdgeAdmission, PriorityClass, Refused } from '@tessera/admission';
import { type ErrorCode, TesseraError, type TesseraErrorOptions } from '@tessera/errors';
import { errorTrailers } from '../error-trailers.js';
import { STATUS_DETAILS, statusDetails } from '../status-details.js';
import { eachField } from '../wire-fields.js';
import type { CallHead, GateDecision } from './frame-gate.js';
import { literalHeaders, MESSAGE_HEADER_BYTES } from './frames.js';

/** Numbers of the fields of a request that admission needs. */
export interface AdmissionFields {
  /** Of the enum Priority: 1 high, 2 normal, 3 low. */
  readonly priority: number;
  readonly deadlineMs: number;
}

export interface CallGateSettings {
  readonly admission: EdgeAdmission;
  /** Methods that the gate decides on, by path `/package.Service/Method`; all others pass. */
  readonly methods: ReadonlyMap<string, AdmissionFields>;
  /** Milliseconds that the bytes under way have waited for the event loop. */
  readonly waitedMs: () => number;
  readonly defaultDeadlineMs: number;
  readonly deadlineMsMax: number;
  readonly onRefused: (code: TesseraError['code']) => void;
  /** Left out: by the clock of the machine. */
  readonly nowMs?: () => number;
}

const UNCOMPRESSED = 0;
const PRIORITIES: readonly PriorityClass[] = [1, 0, 1, 2];
const UNCOUNTED: GateDecision = { isUncounted: true };
const RETRY_STEP_MS = 5;
const BLOCKS_KEPT = 1024;
const PASSED = 'the deadline passed while the call waited to be read';
const AHEAD = 'queue too long: the calls ahead take longer than the deadline leaves';

/**
 * Judges calls by their headers and a look at their message, before anything is parsed: once when
 * their headers come, so that a refusal waits for no message, and once when the request is whole.
 * A call whose message never comes takes no place.
 */
export class CallGate {
  private readonly blocks = new Map<string, Buffer>();

  constructor(private readonly settings: CallGateSettings) {}

  readonly decide = (head: CallHead): GateDecision => {
    const { admission, methods, nowMs = performance.now.bind(performance) } = this.settings;
    const fields = methods.get(head.path);
    if (fields === undefined) return UNCOUNTED;
    const arrivedMs = nowMs() - this.settings.waitedMs();
    const judged = <Answer>(
      message: Buffer | undefined,
      ask: (cls: PriorityClass, budgetMs: number) => Answer | Refused,
    ) => this.judge({ ...head, message }, fields, nowMs() - arrivedMs, ask);
    const refused = judged(head.message, (cls, budgetMs) => admission.refuses(cls, budgetMs));
    if (refused !== undefined) return refused;
    return {
      call: {
        begin: (message) => judged(message, (cls, budgetMs) => admission.admit(cls, budgetMs)),
      },
    };
  };

  /** What `ask` says of a call, or the headers that end it; undefined: the call needs no place. */
  private judge<Answer>(
    head: CallHead,
    fields: AdmissionFields,
    waitedMs: number,
    ask: (cls: PriorityClass, budgetMs: number) => Answer | Refused,
  ): Answer | { readonly refusal: Buffer } | undefined {
    const { deadlineMsMax, onRefused } = this.settings;
    const { cls, bodyMs } = this.wishOf(head, fields);
    // No time at all is a fault of the request, which its handler names.
    if (bodyMs === 0) return undefined;
    const budgetMs = Math.min(head.timeoutMs, bodyMs, deadlineMsMax) - waitedMs;
    if (budgetMs <= 0) {
      onRefused('DEADLINE_EXCEEDED');
      return { refusal: this.block('DEADLINE_EXCEEDED', PASSED) };
    }
    const answer = ask(cls, budgetMs);
    if (!isRefused(answer)) return answer;
    onRefused('ENGINE_OVERLOADED');
    return { refusal: this.overloaded(answer.retryAfterMs) };
  }

  private wishOf(
    { message, timeoutMs }: CallHead,
    fields: AdmissionFields,
  ): { cls: PriorityClass; bodyMs: number } {
    const isReadable = message !== undefined && message[0] === UNCOMPRESSED;
    const found = isReadable ? varints(message.subarray(MESSAGE_HEADER_BYTES), fields) : undefined;
    const silentMs =
      timeoutMs === Number.POSITIVE_INFINITY
        ? this.settings.defaultDeadlineMs
        : Number.POSITIVE_INFINITY;
    const cls = PRIORITIES[found?.priority ?? 0] ?? 1;
    return { cls, bodyMs: found?.deadlineMs ?? silentMs };
  }

  private overloaded(retryAfterMs: number): Buffer {
    const rounded = Math.max(1, Math.ceil(retryAfterMs / RETRY_STEP_MS)) * RETRY_STEP_MS;
    return this.block('ENGINE_OVERLOADED', AHEAD, { retryAfterMs: rounded });
  }

  /**
   * Headers that end a call at once (gRPC over HTTP/2, Trailers-Only). Kept, since an error with
   * its stack costs more than all else of a refusal.
   */
  private block(code: ErrorCode, message: string, hint: TesseraErrorOptions = {}): Buffer {
    const key = `${code} ${hint.retryAfterMs}`;
    const known = this.blocks.get(key);
    if (known !== undefined) return known;
    const error = new TesseraError(code, message, hint);
    const block = literalHeaders({
      ':status': '200',
      'content-type': 'application/grpc+proto',
      'grpc-status': String(error.row.grpc),
      'grpc-message': message,
      ...errorTrailers(error),
      [STATUS_DETAILS]: statusDetails(error).toString('base64'),
    });
    if (this.blocks.size >= BLOCKS_KEPT) this.blocks.clear();
    this.blocks.set(key, block);
    return block;
  }
}

function isRefused<Answer>(answer: Answer | Refused): answer is Refused {
  return typeof answer === 'object' && answer !== null && 'retryAfterMs' in answer;
}

/** The two fields of a protobuf message, as far as they are there and it can be read. */
function varints(message: Buffer, fields: AdmissionFields): Partial<AdmissionFields> {
  const found: { priority?: number; deadlineMs?: number } = {};
  eachField(message, (field, value) => {
    if (value === undefined) return;
    if (field === fields.priority) found.priority = value;
    if (field === fields.deadlineMs) found.deadlineMs = value;
  });
  return found;
}
