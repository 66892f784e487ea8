import { createHash } from 'node:crypto';

/**
 * Keys of the embedded store. 'r' + user: the record. 'x' + digest of the user: until when events
 * of the user are refused who was erased. 'e' + user + event ID: window and time of an event. 'w' +
 * user + window + time + arrival + event ID: its payload, so that a window lies in the order of
 * time and, of one time, of arrival. 'c' + user + window + time + event ID: an event of the time of
 * the first that is kept, which arrived too early to be: one that comes again is known by its 'e'.
 * Before other parts the user is preceded by the length of its bytes, so that no user's keys lie
 * between another's.
 */

/** 'f': the format of the store; one that has none is of format 1. */
export const FORMAT_KEY = Buffer.from('f');
export const FORMAT = 2;
/** 'l': the position in a cluster log up to which erasures are applied. */
export const MARK_KEY = Buffer.from('l');

/** 's': something was erased that may lie in files of the store still. */
export const SCRUB_KEY = Buffer.from('s');
/** 'x': no record of an erased user is left under their ID. */
export const NAMES_TAKEN_KEY = Buffer.from('x');

const DIGEST_BYTES = 16;
const LENGTH_BYTES = 2;
const TIME_BYTES = 8;
const WINDOW_BYTES = 1;
/**
 * Before an arrival, which takes as many bytes as a time; no byte of UTF-8 is so. A store of format
 * 1 has the event ID there: of one time its behaviours come first.
 */
const ARRIVAL_MARK = 0xff;

/** Place of an event in the store. */
export interface EventPlace {
  readonly window: number;
  readonly timeMs: number;
}

function prefixed(letter: 'c' | 'e' | 'w', userId: string): Buffer {
  const user = Buffer.from(userId);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(user.length);
  return Buffer.concat([Buffer.from(letter), length, user]);
}

export function timeBytes(timeMs: number): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigUInt64BE(BigInt(Math.ceil(timeMs)));
  return bytes;
}

export const recordKey = (userId: string): Buffer => Buffer.from(`r${userId}`);

export function erasedKey(userId: string): Buffer {
  const digest = createHash('sha256').update(userId).digest().subarray(0, DIGEST_BYTES);
  return Buffer.concat([NAMES_TAKEN_KEY, digest]);
}

export const userOfRecordKey = (key: Buffer): string => key.subarray(1).toString();

export const eventKey = (userId: string, eventId: string): Buffer =>
  Buffer.concat([prefixed('e', userId), Buffer.from(eventId)]);

export const placeValue = ({ window, timeMs }: EventPlace): Buffer =>
  Buffer.concat([Buffer.of(window), timeBytes(timeMs)]);

export function behaviourKey(
  userId: string,
  place: EventPlace,
  arrival: number,
  eventId: string,
): Buffer {
  const arrived = timeBytes(arrival);
  arrived[0] = ARRIVAL_MARK;
  return Buffer.concat([prefixed('w', userId), placeValue(place), arrived, Buffer.from(eventId)]);
}

export const cutKey = (userId: string, place: EventPlace, eventId: string): Buffer =>
  Buffer.concat([prefixed('c', userId), placeValue(place), Buffer.from(eventId)]);

export const readTime = (bytes: Buffer, at: number): number =>
  bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

/** Reads a key of behaviourKey() or cutKey(), which lies in `bytes` from `begin` to `end`. */
export function readBehaviourKey(
  bytes: Buffer,
  begin = 0,
  end = bytes.length,
): { timeMs: number; arrival: number; eventId: string } {
  const at = begin + 1 + LENGTH_BYTES + bytes.readUInt16BE(begin + 1) + WINDOW_BYTES;
  const timeMs = readTime(bytes, at);
  const rest = at + TIME_BYTES;
  if (rest >= end || bytes[rest] !== ARRIVAL_MARK) {
    return { timeMs, arrival: 0, eventId: bytes.toString('utf8', rest, end) };
  }
  const arrival = bytes.readUIntBE(rest + 1, 3) * 2 ** 32 + bytes.readUInt32BE(rest + 4);
  return { timeMs, arrival, eventId: bytes.toString('utf8', rest + TIME_BYTES, end) };
}

/** Behaviours of a window with a time in [fromMs, toMs); Infinity: to its end. 'c': those cut. */
export function windowRange(
  userId: string,
  window: number,
  fromMs: number,
  toMs: number,
  letter: 'c' | 'w' = 'w',
) {
  const stem = prefixed(letter, userId);
  const from = Buffer.concat([stem, Buffer.of(window), timeBytes(fromMs)]);
  const to = Number.isFinite(toMs)
    ? Buffer.concat([stem, Buffer.of(window), timeBytes(toMs)])
    : Buffer.concat([stem, Buffer.of(window + 1)]);
  return { from, to };
}

/** Records of the users whose ID begins so; no byte of UTF-8 is 0xff. */
export const recordRange = (prefix: string) => ({
  from: recordKey(prefix),
  to: Buffer.concat([recordKey(prefix), Buffer.of(0xff)]),
});
