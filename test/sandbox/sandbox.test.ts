/** Malicious or careless code in the sandbox itself. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  codeBreakerOpenMs,
  codeBuildCpuMs,
  codeProcessesMax,
  codeProgramsCharactersMax,
  codeResidentMebibytes,
  codeRunningMax,
} from '../../src/contract/limits.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { residentMebibytes } from '../../src/sandbox/sandbox-process.ts';
import type { CodeCall, CodeReply, ProgramSet } from '../../src/schemas/build/code-call.ts';
import { until } from '../support/until.ts';

const sandbox = new Sandbox();
after(() => sandbox.close());

const entity = {
  sourceId: 'gid://Source/s',
  id: 'gid://Source/s/Entity/a',
  type: 'page',
  originId: 'a',
  originParentId: null,
  url: '/a',
  updatedAt: '2020-01-01T00:00:00.000Z',
  redirects: [],
  properties: { title: 'A' },
};

let sets = 0;

function setOf(programs: Readonly<Record<string, string>>, owner = 'acme'): ProgramSet {
  sets += 1;
  return { id: `set ${sets}`, owner, programs: new Map(Object.entries(programs)) };
}

/** A set with one schema whose function `properties` has these lines, with `entity` and `context`. */
function schemaOf(lines: string, before = '', owner = 'acme'): ProgramSet {
  return setOf({ 'full/a': `${before}\nreturn { properties(entity, context) {\n${lines}\n} };` }, owner);
}

const callOf = (set: ProgramSet): CodeCall => ({
  set,
  task: 'full',
  alias: 'a',
  input: JSON.stringify(entity),
  answers: new Map(),
  spentMs: 0,
});

async function replyOf(set: ProgramSet): Promise<CodeReply> {
  const [reply] = await sandbox.run([callOf(set)]);
  assert.ok(reply !== undefined);
  return reply;
}

async function made(lines: string, before = ''): Promise<unknown> {
  const reply = await replyOf(schemaOf(lines, before));
  assert.equal(reply.kind, 'made', JSON.stringify(reply));
  return reply.kind === 'made' ? JSON.parse(reply.value.texts.join('null')) : null;
}

async function failureOf(lines: string, before = '') {
  const reply = await replyOf(schemaOf(lines, before));
  assert.equal(reply.kind, 'failed', `${lines} ${JSON.stringify(reply)}`);
  return reply.kind === 'failed' ? reply.failure : { message: '', line: 0, column: 0 };
}

test('sandbox: there is no clock and no randomness, and the message says so', async () => {
  const cases: [string, RegExp][] = [
    ['return { a: Date.now() };', /Date\.now\(\) is a clock/],
    ['return { a: new Date() };', /new Date\(\) without arguments is a clock/],
    ['return { a: Date() };', /Date\(\) is a clock/],
    ['return { a: Math.random() };', /Math\.random\(\) is a source of randomness/],
    ["return { a: new Intl.DateTimeFormat('en').format() };", /without a date is a clock/],
    ["return { a: new Intl.DateTimeFormat('en').formatToParts() };", /without a date is a clock/],
    ['return { a: performance.now() };', /performance is a clock/],
    ['return { a: crypto.randomUUID() };', /crypto is a source of randomness/],
    ['setTimeout(() => {}, 1); return {};', /setTimeout is a timer, and schemas have no clock/],
    ...[
      'Date.apply(null, [])',
      'Reflect.construct(Date, [])',
      'new Date().toLocaleString()',
      'new Date(2020, 1).constructor.now()',
      'Temporal.Now.instant()',
      "new Intl.DateTimeFormat('en').formatRange()",
      "new Intl.DateTimeFormat('en').formatRange(new Date(0))",
      "new Intl.DateTimeFormat('en').formatRangeToParts()",
    ].map((way): [string, RegExp] => [`return { a: ${way} };`, /is a clock, and schemas have none/]),
    ...[
      'setInterval(() => 1)',
      'setImmediate(() => 1)',
      'requestAnimationFrame(() => 1)',
      'requestIdleCallback(() => 1)',
      'scheduler.wait(1)',
      'AbortSignal.timeout(1)',
    ].map((way): [string, RegExp] => [`return { a: ${way} };`, /is a timer, and schemas have no clock/]),
    ...['process.hrtime()', 'process.hrtime.bigint()', 'process.uptime()', 'Atomics.wait()'].map(
      (way): [string, RegExp] => [
        `return { a: ${way} };`,
        /schemas have no process, no threads and no clock/,
      ],
    ),
  ];
  for (const [lines, message] of cases) {
    const failure = await failureOf(lines);
    assert.match(failure.message, message, lines);
    assert.equal(failure.line, 3, lines);
  }
  const dates = await made(`return {
    text: new Date('2020-02-02T10:00:00').toISOString(),
    parts: new Date(2020, 1, 2).toISOString(),
    format: new Intl.DateTimeFormat('en', { dateStyle: 'short' }).format(new Date('2020-02-02')),
    number: (1234.5).toLocaleString('da'),
  };`);
  assert.deepEqual(dates, {
    text: '2020-02-02T10:00:00.000Z',
    parts: '2020-02-02T00:00:00.000Z',
    format: '2/2/20',
    number: '1.234,5',
  });
});

test('sandbox: nothing of the machine is accessible', async () => {
  const names = [
    'process',
    'require',
    'module',
    'Buffer',
    'WeakRef',
    'FinalizationRegistry',
    'WebAssembly',
    'SharedArrayBuffer',
    'ArrayBuffer',
    'Uint8Array',
    'Compartment',
  ];
  const types = await made(`return { types: [${names.map((name) => `typeof ${name}`).join(', ')}] };`);
  assert.deepEqual(types, { types: names.map(() => 'undefined') });
  const ways = [
    "entity.constructor.constructor('return process')()",
    "context.lookup.constructor('return process')()",
    "context.constructor.constructor('return process')()",
    "(async () => {}).constructor('return process')()",
    "(function* () {}).constructor('return process')()",
    "Function('return process')()",
    "Reflect.construct(Function, ['return process'])()",
    "[].constructor.constructor('return process')()",
    "entity.properties.constructor.constructor('return 1')()",
    "new (class extends Function {})('return 1')()",
    'Error.captureStackTrace.constructor("return 1")()',
    'fetch("http://127.0.0.1")',
    'eval.call(null, "1")',
  ];
  for (const way of ways) await failureOf(`return { a: ${way} };`);
  const reached = await made(`
    let found = [];
    try { throw null } catch {}
    try { null.x } catch (error) { found = [typeof error.stack, String(error.stack).includes('/')]; }
    return { found, keys: Object.keys(globalThis), own: Object.getOwnPropertyNames(context).sort() };`);
  assert.deepEqual(reached, {
    found: ['string', false],
    keys: [],
    own: ['lookup', 'partial', 'reference'],
  });
});

test('sandbox: no change by code is visible in the next build', async () => {
  const set = schemaOf(
    `count += 1;
    globalThis.count = (globalThis.count ?? 0) + 1;
    entity.properties.title += '!';
    Promise.resolve().then(() => { for (let i = 0; i < 10; i += 1) count += 1; });
    return { count, global: globalThis.count, title: entity.properties.title };`,
    'let count = 0;',
  );
  const replies = await sandbox.run(Array.from({ length: 5 }, () => callOf(set)));
  for (const reply of replies) {
    assert.ok(reply.kind === 'made');
    assert.equal(reply.value.texts[0], '{"count":1,"global":1,"title":"A!"}');
  }
  for (const lines of [
    'Array.prototype.x = 1;',
    'Object.prototype.polluted = 1;',
    '({}).__proto__.polluted = 1;',
    "Object.defineProperty(Object.prototype, 'polluted', { value: 1 });",
    'JSON.parse = () => 1;',
    'globalThis.JSON.parse = () => 1;',
    'Object.setPrototypeOf(Object.prototype, null); Object.prototype.polluted = 1;',
    'Promise.prototype.then = () => 1;',
  ]) {
    await failureOf(`${lines} return {};`);
  }
  assert.deepEqual(await made('return { a: typeof ({}).polluted, b: typeof [].x, c: JSON.parse("2") };'), {
    a: 'undefined',
    b: 'undefined',
    c: 2,
  });
});

test('sandbox: functions passed to a schema cannot be changed', async () => {
  const set = setOf({
    'full/a': `const seen = new Set(), open = [];
    function look(name, thing) {
      if (Object(thing) !== thing || seen.has(thing)) return;
      seen.add(thing);
      if (!Object.isFrozen(thing)) open.push(name);
      look(name + '.prototype of', Object.getPrototypeOf(thing));
      for (const key of Reflect.ownKeys(thing)) {
        const { value, get, set } = Object.getOwnPropertyDescriptor(thing, key);
        for (const part of [value, get, set]) look(name + '.' + String(key), part);
      }
    }
    return {
      routes(entity, context) {
        look('routes', context);
        look('url', context.url('/a'));
      },
      properties(entity, context) {
        look('properties', context);
        look('lookup', context.lookup("type eq 'page'").limit(1));
        look('reference', context.reference('a').self());
        look('partial', context.partial('b', entity));
        return {};
      },
      actions(entity, context) {
        look('actions', context);
        look('reprocess', context.reprocess('a').parent());
        const destination = context.destination('hook');
        look('destination', destination);
        destination.options({ open, seen: seen.size });
      },
    };`,
  });
  const reply = await replyOf(set);
  assert.equal(reply.kind, 'made', JSON.stringify(reply));
  const options = reply.kind === 'made' ? reply.destinations[0]?.options : null;
  const { open, seen } = options as { open: string[]; seen: number };
  assert.deepEqual(open, []);
  assert.ok(seen > 50);
});

test('sandbox: a value that JSON cannot represent is an error with its path; the rest is as in JSON', async () => {
  const cases: [string, RegExp][] = [
    ['return { a: { b: [() => 1] } };', /a function cannot be in a result: \$\.a\.b\[0\]/],
    ['return { a: 1n };', /a bigint cannot be in a result: \$\.a/],
    ['return { a: Symbol("x") };', /a symbol cannot be in a result: \$\.a/],
    ['const a = {}; a.a = { a }; return a;', /a cycle/],
    ['let a = {}; for (let i = 0; i < 101; i += 1) a = { a }; return a;', /more than 100 levels/],
    ['return { a: Promise.reject(new Error("no")) };', /^no$/],
    ['return { a: new Promise(() => {}) };', /never settles/],
    ['return { get a() { throw new Error("got"); } };', /^got$/],
    ['return { a: { toJSON() { throw new Error("json"); } } };', /^json$/],
    ['return { a: { then(resolve, reject) { reject(new Error("then")); } } };', /^then$/],
    ['return new Proxy({}, { ownKeys() { throw new Error("keys"); } });', /^keys$/],
    ['throw "text";', /threw text/],
    ['throw { get message() { throw 1; } };', /threw object/],
    ['throw undefined;', /threw undefined/],
    ['return [1];', /must return an object/],
    ['return;', /must return an object/],
    ['return { a: context.reference("x") };', /says not which view/],
    ['return { a: context.lookup("type eqq 1") };', /no operator `eqq`/],
    ['return { a: context.lookups("type") };', /context\.lookups is not a function/],
    ['const f = () => f(); f();', /call stack/],
    ["let s = 'x'; for (;;) s += s;", /string length/],
  ];
  for (const [lines, message] of cases) assert.match((await failureOf(lines)).message, message, lines);
  const held = await made(`return {
    left: undefined, nan: NaN, infinite: -Infinity, zero: -0, list: [undefined, , 1], date: new Date(0),
    text: new String('boxed'), json: { toJSON: () => [1] }, then: { then: (resolve) => resolve({ then: 'text' }) },
    proxy: new Proxy({ a: 1 }, {}), ['__proto__']: 'own', half: '\\ud800', map: new Map([[1, 2]]), level: null,
  };`);
  assert.equal(
    JSON.stringify(held),
    '{"nan":null,"infinite":null,"zero":0,"list":[null,null,1],"date":"1970-01-01T00:00:00.000Z","text":"boxed","json":[1],"then":{"then":"text"},"proxy":{"a":1},"__proto__":"own","half":"\\ud800","map":{},"level":null}',
  );
});

test('sandbox: values and promises can nest a hundred levels', async () => {
  const hundred = (wrap: string) => `let a = 1; for (let i = 0; i < 100; i += 1) a = ${wrap}; return a;`;
  await made(hundred('{ a }'));
  await made(hundred('{ a: Promise.resolve(a) }'));
});

test('sandbox: partials in code are run where they are used; those in JSON leave a hole', async () => {
  const set = setOf({
    'full/a': `return { async properties(entity, context) {
      return {
        ...context.partial('spread', { n: 1 }),
        later: context.partial('later', entity),
        json: context.partial('json', entity),
        endless: context.partial('endless', 1),
      };
    } };`,
    'partial/spread': 'return { properties: (input) => ({ spread: input.n }) };',
    'partial/later':
      'let n = 0; return { async properties(input, context) { n += 1; return { n, title: input.properties.title }; } };',
    'partial/endless':
      "return { properties: (input, context) => ({ inner: context.partial('endless', 1) }) };",
  });
  const reply = await replyOf(set);
  assert.ok(reply.kind === 'made', JSON.stringify(reply));
  assert.match(reply.value.texts[0] ?? '', /^\{"spread":1,"later":\{"n":1,"title":"A"\},"json":$/);
  assert.deepEqual(
    reply.value.holes.map((hole) => [hole.kind, hole.path, hole.kind === 'partial' && hole.isEntity]),
    [['partial', '.json', true]],
  );
  assert.deepEqual(
    reply.findings.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('sandbox: only the build that takes too much ends, and the others complete', async () => {
  const good = schemaOf('return { title: entity.properties.title };');
  const wrongdoers: [string, RegExp][] = [
    ['for (;;);', /processor time/],
    ['const all = []; for (;;) all.push(new Array(1e5).fill(1.5));', /64 MiB/],
    ['return { a: /^(a+)+$/.test("a".repeat(40) + "b") };', /processor time/],
    ['(async () => { for (;;) await null; })(); return {};', /processor time/],
  ];
  const replies = await sandbox.run([
    callOf(good),
    ...wrongdoers.flatMap(([lines]) => [callOf(schemaOf(lines)), callOf(good)]),
  ]);
  wrongdoers.forEach(([lines, message], index) => {
    const reply = replies[1 + 2 * index];
    assert.ok(reply?.kind === 'failed', lines);
    assert.match(reply.failure.message, message, lines);
  });
  for (const index of [0, 2, 4, 6, 8]) assert.equal(replies[index]?.kind, 'made');
});

test('sandbox: if the engine runs out of resources, the build fails, and the sandbox continues with a new process', async () => {
  const failure = await failureOf('return { n: "x".repeat(2 ** 29 - 30).split("").length };');
  // On a slow machine the time is up before the engine has taken all memory.
  assert.match(failure.message, /crashed its process|processor time/);
  assert.deepEqual(await made('return { n: 1 };'), { n: 1 });
});

test('sandbox: on a slow machine the start of the process may take longer than a build may', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-slow-'));
  const slowNode = path.join(folder, 'node');
  const busyStart = path.join(folder, 'busy.mjs');
  const busyMs = 1.2 * codeBuildCpuMs;
  writeFileSync(busyStart, `while (process.cpuUsage().user < ${busyMs * 1000});`);
  writeFileSync(slowNode, `#!/bin/sh\nexec '${process.execPath}' --import '${busyStart}' "$@"\n`, {
    mode: 0o755,
  });
  const { execPath } = process;
  const slow = new Sandbox();
  try {
    process.execPath = slowNode;
    const [reply] = await slow.run([callOf(schemaOf('return { title: entity.properties.title };'))]);
    assert.equal(reply?.kind, 'made');
  } finally {
    process.execPath = execPath;
    slow.close();
    rmSync(folder, { recursive: true });
  }
});

// 8e6 elements are 64 MB. V8 copies an array that is filled with fractions, which would be twice as much.
test('sandbox: memory up to the limit can be used repeatedly', async () => {
  const set = schemaOf('const a = new Array(8e6).fill(0); return { n: a.length };');
  for (const reply of await sandbox.run(Array.from({ length: 6 }, () => callOf(set)))) {
    assert.equal(reply.kind, 'made', JSON.stringify(reply));
  }
});

test('sandbox: memory up to the limit can be used with as many programs as a tenant may have, in all alphabets', async () => {
  const count = 8;
  const lines =
    'return { properties() { return { n: new Array(8e6).fill(0).length, text: text.length }; } };';
  const text = `const text = "${'\u0436'.repeat(codeProgramsCharactersMax / count - lines.length - 17)}";\n`;
  const aliases = Array.from({ length: count }, (_, number) => `p${number}`);
  const set = setOf(Object.fromEntries(aliases.map((alias) => [`full/${alias}`, text + lines])));
  for (const reply of await sandbox.run(aliases.map((alias) => ({ ...callOf(set), alias })))) {
    assert.equal(reply.kind, 'made', JSON.stringify(reply));
  }
});

test('sandbox: memory up to the limit can be used, however many other programs were run before', async () => {
  const text = `"${'\u0436'.repeat(codeProgramsCharactersMax / 4)}";`;
  for (let number = 0; number < 12; number += 1) {
    const reply = await replyOf(schemaOf('return { n: new Array(8e6).fill(0).length };', text));
    assert.equal(reply.kind, 'made', `${number} ${JSON.stringify(reply)}`);
  }
});

test('sandbox: memory outside the heap has a limit, too', {
  skip: process.platform !== 'linux',
}, async (context) => {
  let mostMebibytes = 0;
  const look = setInterval(() => {
    mostMebibytes = Math.max(mostMebibytes, ...childrenOfThis().map(residentMebibytes));
  }, 10);
  context.after(() => clearInterval(look));
  const { message } = await failureOf(`
    const [held, text, segmenter] = [[], 'ab '.repeat(300_000), new Intl.Segmenter('th', { granularity: 'word' })];
    for (;;) held.push(segmenter.segment(text)[Symbol.iterator]());`);
  // Where memory is allocated slowly, the time limit is reached first.
  assert.match(message, /64 MiB|processor time/);
  assert.ok(mostMebibytes < 1.5 * codeResidentMebibytes, `${Math.round(mostMebibytes)} MiB`);
  context.diagnostic(`${message}; ${Math.round(mostMebibytes)} MiB at most`);
});

/** Ids of the child processes of this one, from proc(5). */
function childrenOfThis(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === process.pid);
}

/** Null for a process that is gone. */
function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return null;
  }
}

test('circuit breaker: an entity that took too much is paused, and other entities of its schema are not', async () => {
  const set = schemaOf('if (entity.properties.title === "A") for (;;); return { n: 1 };');
  const other = { ...callOf(set), input: JSON.stringify({ ...entity, properties: { title: 'B' } }) };
  const [first] = await sandbox.run([callOf(set)]);
  assert.match(first?.kind === 'failed' ? first.failure.message : '', /processor time/);
  const startMs = performance.now();
  const again = sandbox.ask(callOf(set));
  let isAnswered = false;
  void again.reply.then(() => {
    isAnswered = true;
  });
  for (const reply of await sandbox.run([other, other])) assert.equal(reply.kind, 'made');
  assert.equal(isAnswered, false);
  assert.equal((await again.reply).kind, 'failed');
  assert.ok(performance.now() - startMs > codeBreakerOpenMs);
});

test('sandbox: code of two tenants never shares a process, and the number of processes is bounded', async (context) => {
  const crowd = new Sandbox();
  context.after(() => crowd.close());
  const before = new Set(childrenOfThis());
  const owners = Array.from({ length: codeProcessesMax + 4 }, (_, number) => `tenant-${number}`);
  const programs = { 'full/a': 'return { properties: (entity) => ({ title: entity.properties.title }) };' };
  const shared = setOf(programs);
  const own = () => childrenOfThis().filter((pid) => !before.has(pid)).length;
  for (const [index, owner] of owners.entries()) {
    const [reply] = await crowd.run([callOf({ ...shared, owner })]);
    assert.equal(reply?.kind, 'made');
    if (index < codeProcessesMax) assert.equal(own(), index + 1);
  }
  // A process that ended is listed until the system has released it.
  await until('the processes beyond the limit are gone', () => own() <= codeProcessesMax);
  for (const reply of await crowd.run(owners.map((owner) => callOf({ ...shared, owner })))) {
    assert.equal(reply.kind, 'made');
  }
});

test('sandbox: code that a build leaves running uses its own time, and does not affect the next build', async () => {
  const leave = 'const on = async () => { for (let n = 0; n < spins; n += 1) await null; left.n += 1; };';
  const leftovers: [string, string][] = [
    ['message', 'throw { __proto__: Error.prototype, get message() { on(); return "m"; } };'],
    ['name', 'throw { __proto__: Error.prototype, message: "", get name() { on(); return "n"; } };'],
    ['toString', 'throw { __proto__: Error.prototype, message: { toString() { on(); return "m"; } } };'],
    ['prototype', 'throw new Proxy({}, { getPrototypeOf() { on(); return Error.prototype; } });'],
    [
      'toPrimitive',
      'throw Object.assign(new Error(""), { message: { [Symbol.toPrimitive]() { on(); return "m"; } } });',
    ],
    ['toJSON', 'return { a: { toJSON() { on(); return 1; } } };'],
    ['getter', 'return { get a() { on(); return 1; } };'],
    ['thenable', 'return { a: { then(resolve) { on(); resolve(1); } } };'],
    ['silent thenable', 'return { a: { then() { on(); } } };'],
    ['proxy', 'return new Proxy({}, { ownKeys() { on(); return []; } });'],
    ['rejection', 'on(); Promise.reject(new Proxy({}, { get() { on(); } })); return {};'],
    [
      'generator',
      '(async () => { for await (const n of (async function* () { yield 1; })()) on(); })(); return {};',
    ],
  ];
  for (const [name, lines] of leftovers) {
    const set = setOf({
      'full/a': `const left = { n: 0 }, spins = 1e9; ${leave}\nreturn { properties(entity, context) { ${lines} } };`,
      'full/b': 'return { properties: () => ({ n: 1 }) };',
    });
    const [guilty, next] = await sandbox.run([callOf(set), { ...callOf(set), alias: 'b' }]);
    assert.match(
      guilty?.kind === 'failed' ? guilty.failure.message : String(guilty?.kind),
      /processor time/,
      name,
    );
    assert.equal(next?.kind, 'made', name);
  }
});

test('sandbox: code that runs while its module is evaluated, or in the options of a destination, counts for its build', async () => {
  const spin = 'async function on() { for (let n = 0; n < 1e9; n += 1) await null; }';
  const late =
    'async function late(d) { for (let n = 0; n < 99; n += 1) await null; d.options({ toJSON() { on(); return 1; } }); }';
  const module = schemaOf('return {};', `${spin} on();`);
  const options = setOf({
    'full/a': `${spin} ${late}
      return { properties: () => ({}), actions(entity, context) { late(context.destination('hook')); } };`,
  });
  const fine = schemaOf('return { n: 1 };');
  const replies = await sandbox.run([module, fine, options, fine].map(callOf));
  assert.deepEqual(
    replies.map(({ kind }) => kind),
    ['failed', 'made', 'made', 'made'],
  );
  const reported = replies[2]?.kind === 'made' ? replies[2].destinations : [];
  assert.deepEqual(reported, [{ alias: 'hook', options: {} }]);
});

test('sandbox: tenants with slow builds delay another only by their running builds', async (context) => {
  const busy = new Sandbox();
  context.after(() => busy.close());
  // Its process runs before the others call, because the start time of a process is not tested here.
  const quick = schemaOf('return { n: 1 };', '', 'quick');
  await busy.run([callOf(quick)]);
  let answered = 0;
  const slow = 'let n = 0; for (const end = 1e8; n < end; n += 1); return { n };';
  for (const owner of ['one', 'two', 'three']) {
    const set = schemaOf(slow, '', owner);
    for (let count = 0; count < 20; count += 1) {
      void busy.ask(callOf(set)).reply.then(
        () => {
          answered += 1;
        },
        () => {},
      );
    }
  }
  for (let round = 0; round < 3; round += 1) {
    const before = answered;
    const [reply] = await busy.run([callOf(quick)]);
    assert.equal(reply?.kind, 'made');
    // Those in progress, and those that may end while the reply is sent; without turns all 60 would be first.
    assert.ok(answered - before <= 4 * codeRunningMax, `${answered - before} builds`);
  }
});

test('sandbox: an object that is null in JSON is null, with or without a promise', async () => {
  const none = "{ a: new Date('x'), b: { toJSON: () => null }";
  for (const lines of [`return ${none} };`, `return ${none}, c: Promise.resolve(1) };`]) {
    const reply = await replyOf(schemaOf(lines));
    assert.match(reply.kind === 'made' ? (reply.value.texts[0] ?? '') : '', /^\{"a":null,"b":null[,}]/);
  }
});

test('sandbox: an answer has strings where strings are required, whatever the code returns', async () => {
  const untold = '({ toJSON() { throw new Error("untold"); } })';
  const own = (method: string) =>
    `const list = ["/b", 7]; Object.defineProperty(list, "${method}", { value: () => ${untold} });`;
  const reply = await replyOf(
    setOf({
      'full/a': `return {
        routes(entity, context) { ${own('filter')} context.url('/a').redirects(list); },
        properties(entity, context) {
          ${own('map')}
          entity.originId = ${untold};
          entity.originParentId = ${untold};
          const reference = () => context.reference('b');
          return { many: reference().byOriginIds(list), self: reference().self(), parent: reference().parent() };
        },
        actions(entity, context) { context.reprocess('b').parent(); },
      };`,
    }),
  );
  assert.ok(reply.kind === 'made', JSON.stringify(reply));
  assert.deepEqual(reply.urls, [{ url: '/a', redirects: ['/b'] }]);
  assert.deepEqual(
    reply.value.holes.map((hole) => hole.kind === 'reference' && hole.originId),
    ['/b', '7', 'a'],
  );
  assert.deepEqual(reply.actions, [{ alias: 'b', sourceGroup: null, originId: null }]);
  const failure = await failureOf(
    `const error = new Error(""); Object.defineProperty(error, "name", { value: ${untold} }); throw error;`,
  );
  assert.equal(failure.message, '[object Object]');
  const described = await sandbox.describe(
    setOf({
      'full/a': `return { triggers(context) { ${own('map')} list.pop(); context.triggers('cms', list); } };`,
    }),
    'full',
    'a',
  );
  assert.deepEqual(described.kind === 'described' && described.description.triggers, [['cms', ['/b']]]);
});

test('sandbox: half of a character in a URL, a handle, an id, a filter or an error becomes U+FFFD', async () => {
  const half = '😀'.slice(0, 1);
  const reply = await replyOf(
    setOf({
      'full/a': `return {
        routes(entity, context) { context.url('/${half}').redirects(['/r${half}']); context.handle('${half}'); },
        properties(entity, context) {
          const found = context.reference('b').filter("type eq '${half}'");
          return { one: context.reference('b').byOriginId('${half}'), some: context.reference('b').byOriginIds(['${half}']), found };
        },
        actions(entity, context) { context.destination('${half}'); },
      };`,
    }),
  );
  assert.ok(reply.kind === 'made', JSON.stringify(reply));
  assert.deepEqual(reply.urls, [{ url: '/\ufffd', redirects: ['/r\ufffd'] }]);
  assert.deepEqual(reply.handles, ['\ufffd']);
  assert.deepEqual(reply.destinations, [{ alias: '\ufffd', options: {} }]);
  assert.deepEqual(
    reply.value.holes.map((hole) =>
      hole.kind === 'reference' ? hole.originId : hole.kind === 'references' && hole.lookup.filter,
    ),
    ['\ufffd', '\ufffd', "type eq '\ufffd'"],
  );
  assert.equal((await failureOf(`throw new Error('a${half}');`)).message, 'a\ufffd');
});

test('sandbox: an answer of any length arrives, however late it is read', async () => {
  const replying = replyOf(schemaOf('return { text: "x".repeat(15_000_000) };'));
  await sleep(50);
  const untilMs = performance.now() + 300;
  while (performance.now() < untilMs);
  const reply = await replying;
  assert.equal(reply.kind === 'made' ? reply.value.texts[0]?.length : reply, 15_000_011);
});

test('sandbox: console is silent unless requested, and shows errors as text', async () => {
  const reply = await replyOf(
    schemaOf("console.log('a', { b: 1 }); console.error(1, new TypeError('no tag')); return {};"),
  );
  assert.deepEqual(reply.log, ['a {"b":1}', '1 TypeError: no tag']);
});

test('sandbox: every method of console exists and logs what it would print, without a clock', async () => {
  const calls = [
    ...["assert(true, 'a')", "assert(false, 'b', 1)", 'assert()', 'clear()', 'count()', "count('c')"],
    ...["time('t')", "timeLog('t', 2)", "timeEnd('t')", "group('g')", 'groupEnd()', 'countReset()'],
  ];
  const onlyInNode = ['Console', 'context', 'createTask'];
  const everyName = Object.keys(console).filter((name) => !onlyInNode.includes(name));
  const reply = await replyOf(
    schemaOf(`${calls.map((call) => `console.${call};`).join('')}
      return { missing: ${JSON.stringify(everyName)}.filter((name) => typeof console[name] !== 'function') };`),
  );
  assert.deepEqual(reply.kind === 'made' && JSON.parse(reply.value.texts[0] ?? ''), { missing: [] });
  const assertions = ['Assertion failed b 1', 'Assertion failed'];
  assert.deepEqual(reply.log, [...assertions, 'default', 'c', 't 2', 't', 'g']);
});
