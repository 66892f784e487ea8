/** Bytes that pushes under way have reserved; each gives back its own. */
export class Reservations {
  private readonly open = new Set<{ readonly bytes: number }>();

  get bytes(): number {
    return [...this.open].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @returns what gives them back; idempotent */
  add(bytes: number): () => void {
    const reservation = { bytes };
    this.open.add(reservation);
    return () => void this.open.delete(reservation);
  }
}
