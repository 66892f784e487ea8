/** Files that the configuration names: PEM files of TLS, tokens, passwords. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { readRegularSync } from '@tessera/files';

const FILE_BYTES_MAX = 1 << 20;

export interface TlsPaths {
  /** '' for none. */
  readonly certificatePath: string;
  readonly keyPath: string;
  /** Authority that the other side's certificate has to be of; '' for none. */
  readonly caPath: string;
}

/** Path of each key in the configuration, or flag of a command. */
export interface TlsFields {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

/** PEM texts of TLS; undefined for what is not configured. */
export interface TlsFiles {
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly ca: Buffer | undefined;
}

function invalid(field: string, message: string, cause?: unknown): TesseraError {
  return new TesseraError('CONFIG_INVALID', `${field}: ${message}`, { field, cause });
}

/**
 * @param field path of the key in the configuration, or the flag of a command
 * @throws TesseraError CONFIG_INVALID
 */
function readKeyFile(field: string, path: string): Buffer {
  try {
    return readRegularSync(path, FILE_BYTES_MAX);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(field, `expected a readable file, got ${path}: ${reason}`, cause);
  }
}

/**
 * A secret that is the only line of its file; '' where no file is named.
 * @throws TesseraError CONFIG_INVALID
 */
export function readSecret(field: string, path: string): string {
  if (path === '') return '';
  const text = readKeyFile(field, path).toString('utf8').trim();
  if (text !== '' && !text.includes('\n')) return text;
  throw invalid(field, `${path}: expected one line of text, got ${text === '' ? 'none' : 'more'}`);
}

/**
 * Reads them and sees that the key is that of the certificate.
 * @throws TesseraError CONFIG_INVALID
 */
export function readTls(
  fields: TlsFields,
  { certificatePath, keyPath, caPath }: TlsPaths,
): TlsFiles {
  const read = (field: string, path: string) =>
    path === '' ? undefined : readKeyFile(field, path);
  const cert = read(fields.certificate, certificatePath);
  const key = read(fields.key, keyPath);
  const ca = read(fields.ca, caPath);
  if ((cert === undefined) !== (key === undefined)) {
    const message = `expected both ${fields.certificate} and ${fields.key}, got one of them`;
    throw invalid(fields.key, message);
  }
  if (ca !== undefined) certificateOf(fields.ca, caPath, ca);
  if (cert !== undefined && key !== undefined) {
    const certificate = certificateOf(fields.certificate, certificatePath, cert);
    if (!certificate.checkPrivateKey(privateKeyOf(fields.key, keyPath, key))) {
      const message = `expected the private key of the certificate in ${certificatePath}`;
      throw invalid(fields.key, `${message}, got another one in ${keyPath}`);
    }
  }
  return { cert, key, ca };
}

function certificateOf(field: string, path: string, pem: Buffer): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(field, `${path}: expected a certificate in PEM, got: ${reason}`, cause);
  }
}

function privateKeyOf(field: string, path: string, pem: Buffer) {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(field, `${path}: expected a private key in PEM, got: ${reason}`, cause);
  }
}
