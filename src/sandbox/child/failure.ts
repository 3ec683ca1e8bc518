/** Describes a thrown value of schema code: its message and position. Code can throw anything. */
import type { CodeFailure } from '../../schemas/build/code-call.ts';
import { storable } from './builders.ts';
import { stackOf } from './intrinsics.ts';

const messageCharactersMax = 500;
const frame = /\bschema:((?:full|partial|index)\/[A-Za-z0-9_-]+):(\d+):(\d+)/;
/** The wrapper adds a line before the program. */
const linesBefore = 1;

/** Clearer wording for messages of the engine and of the locked realm. */
const clearerMessages: readonly (readonly [RegExp, string])[] = [
  [/^secure mode Calling %SharedDate%\.now\(\) throws/, 'Date.now() is a clock'],
  [
    /^secure mode Calling new %SharedDate%\(\) with no arguments throws/,
    'new Date() without arguments is a clock',
  ],
  [/^secure mode Calling %SharedDate% constructor as a function throws/, 'Date() is a clock'],
  [/^secure mode %SharedMath%\.random\(\) throws/, 'Math.random() is a source of randomness'],
];

/** Errors of using `process` and `Atomics`. They are undefined instead of throwing, so that feature tests work. */
const absentClock =
  /^Cannot read properties of undefined \(reading '(?:hrtime|uptime|cpuUsage|wait|waitAsync)'\)$/;

export function failureOf(thrown: unknown): CodeFailure {
  const place = placeOf(thrown);
  return {
    message: storable(messageOf(thrown).slice(0, messageCharactersMax)),
    program: place?.[1] ?? null,
    line: place === null ? 0 : Number(place[2]) - linesBefore,
    column: place === null ? 0 : Number(place[3]),
  };
}

/** A failure without a position in the code. */
export function failureWithout(message: string): CodeFailure {
  return { message, program: null, line: 0, column: 0 };
}

function placeOf(thrown: unknown): RegExpExecArray | null {
  try {
    return thrown instanceof Error ? frame.exec(stackOf(thrown)) : null;
  } catch {
    return null;
  }
}

function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return `threw ${typeof thrown === 'string' ? thrown : typeof thrown}`;
    const text = String(thrown.message) || String(thrown.name);
    const known = clearerMessages.find(([pattern]) => pattern.test(text));
    if (absentClock.test(text)) return `${text}: schemas have no process, no threads and no clock`;
    if (known === undefined) return text;
    return `${known[1]}, and schemas have none: a view is a function of its data`;
  } catch {
    return 'threw something that cannot be read';
  }
}
