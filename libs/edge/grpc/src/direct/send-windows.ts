/** Of a connection and of a stream, as HTTP/2 begins (RFC 9113, 6.9.2). */
export const FIRST_WINDOW_BYTES = 65_535;
/** Bytes of the connection's window that are kept for answers of the gate, at least. */
const OWN_BYTES_MIN = 32_768;
const OWN_BYTES_MAX = 2 ** 24;
/** Below that the server gets what is not in use. */
const SERVER_BYTES_LOW = 16_384;

/**
 * The window that a client grants to its connection, shared by two senders: the HTTP/2 server,
 * which takes all that was announced to it for its own, and the gate. The gate may send what the
 * server does not know of. It takes its part off the client's grants on their way, and lends
 * it to the server when that runs short.
 */
export class SendWindows {
  private serverBytes = FIRST_WINDOW_BYTES;
  private spare = 0;
  private wanted = OWN_BYTES_MIN;
  private reserved = 0;

  /** Bytes that the gate may send now. */
  get own(): number {
    return this.spare;
  }

  /** Sets `bytes` aside for an answer; false: there are not so many. */
  reserve(bytes: number): boolean {
    if (this.spare - this.reserved < bytes) return false;
    this.reserved += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.reserved -= bytes;
  }

  /** REQUIRES: bytes <= own. */
  sent(bytes: number): void {
    this.spare -= bytes;
  }

  /** Takes credit from the client. @returns the part that the server must hear of */
  granted(bytes: number): number {
    this.wanted = Math.max(this.wanted, Math.min(Math.floor(bytes / 2), OWN_BYTES_MAX));
    const taken = Math.min(bytes, Math.max(0, this.wanted - this.spare));
    this.spare += taken;
    this.serverBytes += bytes - taken;
    return bytes - taken;
  }

  /** The server has sent so much. @returns what is to be announced to it, lent by the gate */
  serverSent(bytes: number): number {
    this.serverBytes -= bytes;
    const free = this.spare - this.reserved;
    if (this.serverBytes >= SERVER_BYTES_LOW || free <= 0) return 0;
    this.spare -= free;
    this.serverBytes += free;
    return free;
  }
}
