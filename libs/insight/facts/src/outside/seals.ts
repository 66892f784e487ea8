import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Part of a recorded recall that only the user's key opens. */
export interface SealedText {
  /** Pseudonym of the user, in decimal digits. */
  readonly pseudonym: string;
  /** Base64. */
  readonly bytes: string;
}

const CIPHER = 'aes-128-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Nonce, tag and the compressed text, as Base64. */
export function sealed(text: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const bytes = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64');
}

/** Null where the key has gone, or is another one's. */
export function unsealed(base64: string, key: Buffer | undefined): string | null {
  if (key === undefined) return null;
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return inflateRawSync(Buffer.concat([decipher.update(text), decipher.final()])).toString();
  } catch {
    return null;
  }
}
