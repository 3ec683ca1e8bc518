/** Lists for scripts, as one argument: the client library takes its time for each. */
import { PackWriter } from '../codec/pack-writer.ts';

/** Numbers and texts, bytes that go as texts, and lists of them. */
export type LuaValue = string | number | Uint8Array | readonly LuaValue[];

const writer = new PackWriter();

/** In a buffer of its own. */
export function packForLua(list: readonly LuaValue[]): Buffer {
  writer.begin();
  write(list);
  return writer.take();
}

function write(value: LuaValue): void {
  if (typeof value === 'string') writer.text(value);
  else if (typeof value === 'number') writer.number(value);
  else if (value instanceof Uint8Array) writer.textBytes(value);
  else {
    writer.list(value.length);
    for (const item of value) write(item);
  }
}
