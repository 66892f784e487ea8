import { X509Certificate } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { readTls, type TlsFields, type TlsFiles, type TlsPaths } from './key-files.js';
import { markOf } from './watched-secret.js';

const LOOK_EVERY_MS = 1000;

/** The end of a certificate that a file begins with. */
export interface CertificateEnd {
  /** Path of the key that names the file. */
  readonly field: string;
  /** Milliseconds since 1970. */
  readonly endsMs: number;
}

/**
 * The files of one use of TLS, read again when they change. While what is there does not fit
 * together, as between the writing of a certificate and of its key, the last good ones count.
 * Owner: the main thread.
 */
export class WatchedTls implements TlsFiles {
  private files: TlsFiles;
  private mark: string;
  private fault = '';
  private readonly listeners: ((files: TlsFiles) => void)[] = [];

  /** @throws TesseraError CONFIG_INVALID for files that are not what they should be */
  constructor(
    private readonly fields: TlsFields,
    private readonly paths: TlsPaths,
  ) {
    this.mark = this.marks();
    this.files = readTls(fields, paths);
  }

  get current(): TlsFiles {
    return this.files;
  }

  get cert(): Buffer | undefined {
    return this.files.cert;
  }

  get key(): Buffer | undefined {
    return this.files.key;
  }

  get ca(): Buffer | undefined {
    return this.files.ca;
  }

  /** Why the files that are there do not count; '' where they do. */
  get reason(): string {
    return this.fault;
  }

  onChange(listener: (files: TlsFiles) => void): void {
    this.listeners.push(listener);
  }

  /** Now and then, and never the reason that a process lives. */
  watch(): void {
    setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Reads the files where they have changed. */
  look(): void {
    const mark = this.marks();
    if (mark === this.mark) return;
    try {
      this.files = readTls(this.fields, this.paths);
      this.mark = mark;
      this.fault = '';
    } catch (thrown) {
      this.fault = TesseraError.from(thrown).message;
      return;
    }
    for (const listener of this.listeners) listener(this.files);
  }

  ends(): readonly CertificateEnd[] {
    const { cert, ca } = this.files;
    const { certificate, ca: authority } = this.fields;
    return [
      { field: certificate, pem: cert },
      { field: authority, pem: ca },
    ].flatMap(({ field, pem }) =>
      pem === undefined ? [] : [{ field, endsMs: Date.parse(new X509Certificate(pem).validTo) }],
    );
  }

  private marks(): string {
    const { certificatePath, keyPath, caPath } = this.paths;
    return [certificatePath, keyPath, caPath].map(markOf).join();
  }
}
