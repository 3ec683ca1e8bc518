/**
 * The process that runs tenant code. It reads messages from its standard input and replies on a separate pipe, one message at a
 * time. Its owner watches its time and memory, and kills it if needed.
 */
import { readSync, writeSync } from 'node:fs';
import { answersDescriptor, type FromSandbox, type ToSandbox } from '../protocol.ts';
import { build, describe } from './builds.ts';
import { lockRealm } from './intrinsics.ts';
import { ProgramSets, type Run } from './run.ts';

const input = 0;
/** Replies are buffered up to this size. */
const flushCharacters = 64 * 1024;
const logLinesMax = 200;
const logCharactersMax = 1_000;

lockRealm();
// A rejected promise that is not awaited does not affect the result.
process.on('unhandledRejection', () => {});

let current: Run | null = null;
const note = (...given: unknown[]) => {
  if (current !== null && current.log.length < logLinesMax) current.log.push(given.map(shown).join(' '));
};
const ignore = () => {};
const noting = [
  'debug',
  'dir',
  'dirxml',
  'error',
  'group',
  'groupCollapsed',
  'info',
  'log',
  'table',
  'trace',
  'warn',
];
const silent = ['clear', 'countReset', 'groupEnd', 'profile', 'profileEnd', 'time', 'timeStamp'];
const sets = new ProgramSets(
  harden({
    ...Object.fromEntries(noting.map((name) => [name, note])),
    ...Object.fromEntries(silent.map((name) => [name, ignore])),
    assert: (isTrue?: unknown, ...given: unknown[]) => {
      if (!isTrue) note('Assertion failed', ...given);
    },
    count: (label = 'default') => note(label),
    timeEnd: (label = 'default') => note(label),
    timeLog: (label = 'default', ...given: unknown[]) => note(label, ...given),
  }),
);

function shown(value: unknown): string {
  try {
    // As JSON, an error is empty.
    const isText = typeof value === 'string' || value instanceof Error;
    const text = isText ? String(value) : (JSON.stringify(value) ?? String(value));
    return text.slice(0, logCharactersMax);
  } catch {
    return typeof value;
  }
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

let waiting = '';

function answer(reply: FromSandbox): void {
  waiting += `${JSON.stringify(reply)}\n`;
  if (waiting.length >= flushCharacters) send();
}

function send(): void {
  const bytes = Buffer.from(waiting);
  waiting = '';
  for (let at = 0; at < bytes.length; ) at += writeSync(answersDescriptor, bytes, at);
}

/** The lines of the standard input, until it is closed. */
function* lines(): Generator<string> {
  const chunk = Buffer.alloc(1 << 18);
  let parts: Buffer[] = [];
  for (;;) {
    const length = readSync(input, chunk);
    if (length === 0) return;
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0 && end < length; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
      parts = [];
      from = end + 1;
      yield line;
    }
    if (from < length) parts.push(Buffer.from(chunk.subarray(from, length)));
  }
}

/** @param startedUs processor time before the message was parsed, because parsing a large one takes time too */
async function handle(message: ToSandbox, startedUs: number): Promise<void> {
  let callStartedUs = startedUs;
  const cpuMs = () => (cpuUs() - callStartedUs) / 1_000;
  switch (message.kind) {
    case 'open':
      return sets.open(message.id, message.programs);
    case 'close':
      return sets.close(message.id);
    case 'describe':
      return answer(await describe(sets.get(message.id), message, cpuMs));
    case 'run':
      for (const call of message.calls) {
        if (call.flushFirst) send();
        const log = (run: Run) => {
          current = run;
        };
        const reply = await build(sets.get(message.id), call, log, cpuMs);
        current = null;
        callStartedUs = cpuUs();
        answer(reply);
      }
  }
}

answer({ kind: 'ready' });
send();
for (const line of lines()) {
  const startedUs = cpuUs();
  await handle(JSON.parse(line), startedUs);
  send();
}
