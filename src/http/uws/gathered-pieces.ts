/** A smaller piece is held until there are as many bytes. */
const gatheredBytes = 4 * 1024;

/**
 * Puts small pieces of a body together. Anyone who keeps a piece keeps some 200 bytes with it, and a client may send a chunk for
 * each byte: only bytes are counted against what all bodies may take.
 */
export class GatheredPieces {
  #held: Uint8Array<ArrayBuffer> | null = null;
  #heldBytes = 0;

  /** @param consume takes a piece, which is valid only during the call */
  constructor(private readonly consume: (piece: Uint8Array<ArrayBuffer>, isLast: boolean) => void) {}

  /** @param piece valid only during the call */
  push(piece: Uint8Array<ArrayBuffer>, isLast: boolean): void {
    if (this.#heldBytes + piece.length > gatheredBytes) this.#handOver(false);
    if (this.#heldBytes === 0 && (isLast || piece.length >= gatheredBytes)) {
      this.consume(piece, isLast);
      return;
    }
    this.#held ??= new Uint8Array(gatheredBytes);
    this.#held.set(piece, this.#heldBytes);
    this.#heldBytes += piece.length;
    if (isLast) this.#handOver(true);
  }

  #handOver(isLast: boolean): void {
    if (this.#held === null || this.#heldBytes === 0) return;
    const piece = this.#held.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    this.consume(piece, isLast);
  }
}
