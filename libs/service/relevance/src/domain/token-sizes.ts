/** Weight of what was read before, each time that as many bytes are read as are remembered. */
const REMEMBERED_BYTES = 1 << 20;
/** Until documents are read: about what English takes. */
const FIRST_BYTES_PER_TOKEN = 4;
const FIRST_BYTES = 256;

/** How many bytes of documents make a token, of those read lately. */
export class TokenSizes {
  private bytes = FIRST_BYTES;
  private tokens = FIRST_BYTES / FIRST_BYTES_PER_TOKEN;

  get bytesPerToken(): number {
    return this.bytes / this.tokens;
  }

  note(bytes: number, tokens: number): void {
    this.bytes += bytes;
    this.tokens += tokens;
    if (this.bytes < REMEMBERED_BYTES) return;
    this.bytes /= 2;
    this.tokens /= 2;
  }
}
