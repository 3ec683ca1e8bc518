/**
 * What a row begins with: its ids and its time. Different queries show the same rows again and again, and to find a head
 * takes less than to write it.
 */
import { isoBytesMax, writeIsoText } from './iso-text.ts';
import { asciiBytes, unitBytesMax, writeBytes, writeJsonText } from './json-bytes.ts';

/** Heads remembered, and the longest one of them. */
const headsRemembered = 4096;
const rememberedBytesMax = 512;
/** Heads lie side by side in blocks. */
const blockBytes = 64 * 1024;

const originIdName = asciiBytes('{"_originId":');
const sourceGuidName = asciiBytes(',"_sourceGuid":');
const updatedAtName = asciiBytes(',"_updatedAt":"');
const quote = asciiBytes('"');
const quotesOfIds = 4;
const frameBytesMax =
  originIdName.length +
  sourceGuidName.length +
  updatedAtName.length +
  isoBytesMax +
  quote.length +
  quotesOfIds;

interface Head {
  readonly updatedAtMs: number;
  readonly bytes: Uint8Array;
}

export class RowHeads {
  #bySource = new Map<string, Map<string, Head>>();
  #size = 0;
  /** Those of the source that was asked for last: a page is of few sources. */
  #heads = new Map<string, Head>();
  #sourceId = '';
  #block = Buffer.alloc(0);
  #usedBytes = 0;

  /** `{"_originId":…,"_sourceGuid":…,"_updatedAt":…`, not to be changed. */
  of(originId: string, sourceId: string, updatedAtMs: number): Uint8Array {
    if (sourceId !== this.#sourceId) this.#turnTo(sourceId);
    const known = this.#heads.get(originId);
    if (known?.updatedAtMs === updatedAtMs) return known.bytes;
    const bytes = this.#write(originId, sourceId, updatedAtMs);
    if (bytes.length <= rememberedBytesMax) this.#remember(originId, { updatedAtMs, bytes });
    return bytes;
  }

  #turnTo(sourceId: string): void {
    this.#sourceId = sourceId;
    this.#heads = this.#bySource.get(sourceId) ?? new Map();
    this.#bySource.set(sourceId, this.#heads);
  }

  #remember(originId: string, head: Head): void {
    if (this.#size === headsRemembered) {
      // Tables that were outgrown or emptied hold on to one another: new ones let go of all of them.
      this.#bySource = new Map();
      this.#turnTo(this.#sourceId);
      this.#size = 0;
    }
    this.#heads.set(originId, head);
    this.#size += 1;
  }

  #write(originId: string, sourceId: string, updatedAtMs: number): Uint8Array {
    const bytesMax = frameBytesMax + unitBytesMax * (originId.length + sourceId.length);
    if (this.#usedBytes + bytesMax > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(bytesMax, blockBytes));
      this.#usedBytes = 0;
    }
    const block = this.#block;
    const from = this.#usedBytes;
    let end = writeBytes(originIdName, block, from);
    end = writeJsonText(originId, block, end);
    end = writeBytes(sourceGuidName, block, end);
    end = writeJsonText(sourceId, block, end);
    end = writeBytes(updatedAtName, block, end);
    end = writeIsoText(updatedAtMs, block, end);
    end = writeBytes(quote, block, end);
    this.#usedBytes = end;
    return block.subarray(from, end);
  }
}
