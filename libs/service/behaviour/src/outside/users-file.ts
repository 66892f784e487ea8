import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parseJson, TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { hasLines, parseSequenceLines } from '../domain/parse-sequences.js';
import { parseUsers } from '../domain/parse-users.js';
import { MemoryBehaviourStore } from './memory-behaviour-store.js';

/** Bytes of a users file, before and after decompression. */
const USERS_FILE_BYTES_MAX = 400 << 20;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const inflate = promisify(gunzip);

/**
 * Reads users.json, or sequences as `trainer sequences` writes them (a name in .jsonl or .ndjson);
 * gzip-compressed or not (its content decides).
 * @throws TesseraError BEHAVIOUR_INVALID naming file and path, or IO_FAILED
 */
export async function loadBehaviourStore(path: string): Promise<MemoryBehaviourStore> {
  const name = basename(path);
  const text = await readUsersText(path);
  if (hasLines(path)) {
    return new MemoryBehaviourStore(parseSequenceLines(text, name, Date.now()).users);
  }
  let document: unknown;
  try {
    document = parseJson(text);
  } catch (error) {
    throw invalid(name, `JSON: ${(error as Error).message}`, error);
  }
  return new MemoryBehaviourStore(parseUsers(document, name));
}

/**
 * Text of a file of users, gzip-compressed or not.
 * @throws TesseraError BEHAVIOUR_INVALID or IO_FAILED
 */
export async function readUsersText(path: string): Promise<string> {
  const name = basename(path);
  return textOf(path, await readBytes(path, name), 'BEHAVIOUR_INVALID');
}

async function readBytes(path: string, name: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readRegular(path, USERS_FILE_BYTES_MAX);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw invalid(name, `a file at ${path}, got none`, error);
    if (code === undefined) throw invalid(name, message.replace(/^expected /, ''), error);
    throw new TesseraError('IO_FAILED', `${name}: ${message}`, { field: name, cause: error });
  }
  if (!bytes.subarray(0, 2).equals(GZIP_MAGIC)) return bytes;
  try {
    return await inflate(bytes, { maxOutputLength: USERS_FILE_BYTES_MAX });
  } catch (error) {
    throw invalid(name, `gzip of at most ${USERS_FILE_BYTES_MAX} bytes: ${error}`, error);
  }
}

function invalid(name: string, expected: string, cause: unknown): TesseraError {
  return new TesseraError('BEHAVIOUR_INVALID', `${name}: expected ${expected}`, {
    field: name,
    cause,
  });
}
