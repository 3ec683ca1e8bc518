/** Executes calls: runs the functions of a schema until no job is left, and returns the outcome. */
import type { Json } from '../../contract/json.ts';
import type { CodeFailure, CodeReply, CodeValue } from '../../schemas/build/code-call.ts';
import type { DescribeReply, Description, SentCall, ToSandbox } from '../protocol.ts';
import { storable } from './builders.ts';
import { actionsContext, propertiesContext, routesContext, triggersContext } from './context.ts';
import { stackOf } from './intrinsics.ts';
import { settledValue } from './result.ts';
import { type Module, type Programs, Run } from './run.ts';

/** Optional functions of the module, in the order of the calls. */
const membersOf = ['triggers', 'routes', 'properties', 'actions'] as const;

const neverSettles =
  'a promise of the schema never settles: it can only wait for lookups, and none are pending';
const emptyValue: CodeValue = { texts: ['null'], holes: [] };

/** Resolves when the microtask queue is empty; code has no timers or input. */
const drained = () => new Promise<void>((resolve) => setImmediate(resolve));

/** @param cpuMs returns the processor time of the call so far, in ms */
export async function build(
  programs: Programs,
  call: SentCall,
  log: (run: Run) => void,
  cpuMs: () => number,
): Promise<CodeReply> {
  const run = runOf(programs, call);
  log(run);
  const outcome = await outcomeOf(() => execute(programs, call, run));
  const { findings, log: lines } = run;
  const rest = { findings, log: lines, cpuMs: cpuMs() };
  if (outcome !== null && 'failure' in outcome) return { kind: 'failed', failure: outcome.failure, ...rest };
  if (run.asks.size > 0) return { kind: 'asks', lookups: [...run.asks.values()], ...rest };
  if (outcome === null) return { kind: 'failed', failure: failureWithout(neverSettles), ...rest };
  const { urls, handles, actions } = run;
  return {
    kind: 'made',
    value: outcome.value,
    urls,
    handles,
    actions,
    destinations: run.settledDestinations,
    ...rest,
  };
}

/** The result of work that may run code, once no job is left; null if it still waits then. */
async function outcomeOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly failure: CodeFailure } | null> {
  let value: { readonly value: T } | null = null;
  let thrown: { readonly error: unknown } | null = null;
  work().then(
    (result) => {
      value = { value: result };
    },
    (error: unknown) => {
      thrown = { error };
    },
  );
  await drained();
  if (thrown === null) return value;
  const failure = failureOf((thrown as { readonly error: unknown }).error);
  // Reading a thrown value may run code that queues more jobs, so drain the queue again before the next build.
  await drained();
  return { failure };
}

function runOf(programs: Programs, call: SentCall): Run {
  const modules = new Map<string, Module>();
  const moduleOf = (alias: string) => {
    const known = modules.get(alias);
    if (known !== undefined) return known;
    if (!programs.has('partial', alias)) return null;
    const module = programs.start('partial', alias);
    modules.set(alias, module);
    return module;
  };
  const entity = call.task === 'partial' ? null : call.input;
  return new Run(entity, call.answers, moduleOf);
}

async function execute(programs: Programs, call: SentCall, run: Run): Promise<CodeValue> {
  const { task, alias, input } = call;
  const module = programs.start(task === 'actions' ? 'full' : task, alias);
  const { routes, properties, actions } = module;
  if (task === 'full' && routes !== undefined) await invoke(module, routes, [input, routesContext(run)]);
  const isWithoutValue = task === 'actions' || (task === 'full' && properties === undefined);
  const value = isWithoutValue
    ? emptyValue
    : await settledValue(invoke(module, properties, [input, propertiesContext(run)]), run);
  if (task !== 'partial' && !isWithoutValue && !value.texts[0]?.startsWith('{')) {
    throw new TypeError('properties must return an object');
  }
  if ((task === 'full' || task === 'actions') && actions !== undefined) {
    await invoke(module, actions, [input, actionsContext(run)]);
    // Later changes by code have no effect.
    for (const { alias, options } of run.destinations) {
      run.settledDestinations.push({ alias, options: await settledOptions(options, run) });
    }
  }
  return value;
}

async function settledOptions(given: unknown, run: Run): Promise<Json> {
  const { texts, holes } = await settledValue(given, run);
  if (holes.length > 0) throw new TypeError('the options of a destination cannot contain references');
  return JSON.parse(texts.join(''));
}

function invoke(module: Module, member: unknown, given: readonly unknown[]): unknown {
  if (typeof member !== 'function') throw new TypeError('properties must be a function');
  return Reflect.apply(member, module, given);
}

/** Describes a program. It runs `triggers`, but needs no entity. */
export async function describe(
  programs: Programs,
  { program, alias }: Extract<ToSandbox, { kind: 'describe' }>,
  cpuMs: () => number,
): Promise<DescribeReply> {
  const triggers: [string, readonly string[]][] = [];
  const run = new Run(null, {}, () => null);
  const outcome = await outcomeOf(async (): Promise<Description> => {
    const module = programs.start(program, alias);
    const members = membersOf.filter((name) => typeof module[name] === 'function');
    if (program !== 'partial') {
      const add = (group: string, types: readonly string[]) => triggers.push([group, types]);
      if (typeof module.triggers !== 'function')
        throw new TypeError('the function triggers(context) is missing');
      await invoke(module, module.triggers, [triggersContext(add)]);
    }
    const { texts } = await settledValue(module.index, run);
    const index: Json = JSON.parse(texts.join('null'));
    return { members, triggers, index };
  });
  if (outcome !== null && 'value' in outcome) {
    return { kind: 'described', description: outcome.value, cpuMs: cpuMs() };
  }
  return { kind: 'failed', failure: outcome?.failure ?? failureWithout(neverSettles), cpuMs: cpuMs() };
}

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

/** Describes a thrown value of schema code. Code can throw anything. */
function failureOf(thrown: unknown): CodeFailure {
  const place = placeOf(thrown);
  return {
    message: storable(messageOf(thrown).slice(0, messageCharactersMax)),
    program: place?.[1] ?? null,
    line: place === null ? 0 : Number(place[2]) - linesBefore,
    column: place === null ? 0 : Number(place[3]),
  };
}

/** A failure without a position in the code. */
function failureWithout(message: string): CodeFailure {
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
