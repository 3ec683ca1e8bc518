import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { followRedis } from '../../../src/cli/start/private-redis.ts';
import { Output, parseProcfile, Supervisor } from '../../../src/cli/start/supervisor.ts';
import { typeScriptWords } from '../../../src/typescript/clone-or-package.mjs';
import { isAlive } from '../../support/is-alive.ts';
import { until } from '../../support/until.ts';
import { root, run } from '../support/command.ts';

class Lines {
  readonly all: string[] = [];
  write(text: string): void {
    this.all.push(text.trimEnd());
  }
  matching(pattern: RegExp): string[] {
    return this.all.filter((line) => pattern.test(line));
  }
  /** The number that a process printed after `word`, such as its pid. */
  numbers(name: string, word: string): number[] {
    return this.all.flatMap((line) => {
      const match = new RegExp(`^${name} +\\| ${word} (\\d+)$`).exec(line);
      return match === null ? [] : [Number(match[1])];
    });
  }
}

function start(context: TestContext): { lines: Lines; supervisor: Supervisor } {
  const lines = new Lines();
  const supervisor = new Supervisor(new Output(lines));
  context.after(() => supervisor.kill());
  return { lines, supervisor };
}

/** A process that prints `pid N` once it runs and then does what `script` says. */
function entry(name: string, script: string) {
  return { name, program: 'node', words: ['-e', `${script}; console.log('pid', process.pid)`] };
}

const waits = 'setInterval(() => {}, 1000)';

test('supervisor: every process of an entry runs, and each of its lines starts with its name', async (context) => {
  const { lines, supervisor } = start(context);
  supervisor.startEntry(entry('web', waits), 2, process.env);
  await until('both have printed', () => lines.matching(/^web\.[12] +\| pid \d+$/).length === 2);
  await supervisor.stop();
});

test('supervisor: a process that dies is restarted, and a line reports it', async (context) => {
  const { lines, supervisor } = start(context);
  supervisor.startEntry(entry('worker', waits), 1, process.env);
  await until('it runs', () => lines.numbers('worker.1', 'pid').length === 1);
  process.kill(Number(lines.numbers('worker.1', 'pid')[0]), 'SIGKILL');
  await until('it runs again', () => lines.numbers('worker.1', 'pid').length === 2);
  assert.equal(
    lines.matching(/^start +\| worker\.1 ended \(signal SIGKILL\); starting it again in 0\.5 s$/).length,
    1,
  );
  await supervisor.stop();
});

test('supervisor: a process that keeps dying is restarted with growing delays', async (context) => {
  const { lines, supervisor } = start(context);
  supervisor.startEntry(entry('jobs', 'process.exit(3)'), 1, process.env);
  await until('three ends', () => lines.matching(/exit code 3/).length === 3);
  assert.deepEqual(
    lines.matching(/exit code 3/).map((line) => / in ([\d.]+) s$/.exec(line)?.[1]),
    ['0.5', '1', '2'],
  );
  await supervisor.stop();
});

test('supervisor: a missing program is reported like any other exit', async (context) => {
  const { lines, supervisor } = start(context);
  supervisor.startEntry({ name: 'web', program: 'no-such-program', words: [] }, 1, process.env);
  await until(
    'it is reported',
    () => lines.matching(/web\.1 ended \(spawn no-such-program ENOENT\)/).length === 1,
  );
  await supervisor.stop();
});

test('supervisor: processes end in order: fronts, workers, jobs; one that does not is killed', async (context) => {
  const { lines, supervisor } = start(context);
  const slow = `process.on('SIGTERM', () => { console.log('asked'); setTimeout(() => { console.log('bye'); process.exit(); }, 100); }); ${waits}`;
  const deaf = `process.on('SIGTERM', () => {}); ${waits}`;
  supervisor.startEntry(entry('jobs', deaf), 1, process.env);
  supervisor.startEntry(entry('worker', slow), 2, process.env);
  supervisor.startEntry(entry('web', slow), 1, process.env);
  await until('all run', () => lines.matching(/\| pid \d+$/).length === 4);
  const pids = lines.matching(/\| pid \d+$/).map((line) => Number(/\d+$/.exec(line)?.[0]));
  await supervisor.stop();
  assert.deepEqual(pids.filter(isAlive), []);
  await until('the last lines are read', () => lines.matching(/\| bye$/).length === 3);
  const words = lines.matching(/asked|bye/).map((line) => line.replace(/\.\d +\| /, ' '));
  assert.deepEqual(words, [
    'web asked',
    'web bye',
    'worker asked',
    'worker asked',
    'worker bye',
    'worker bye',
  ]);
});

test('supervisor: a front that needs longer to end can use the time of all processes together', async (context) => {
  const lines = new Lines();
  const supervisor = new Supervisor(new Output(lines), 15_000);
  context.after(() => supervisor.kill());
  const slow = `process.on('SIGTERM', () => setTimeout(() => { console.log('bye'); process.exit(); }, 3_500)); ${waits}`;
  supervisor.startEntry(entry('web', slow), 1, process.env);
  await until('it runs', () => lines.numbers('web.1', 'pid').length === 1);
  await supervisor.stop();
  await until('its last line is read', () => lines.matching(/^web\.1 +\| bye$/).length === 1);
});

test('supervisor: stopping cancels a pending restart, so that nothing keeps the supervisor alive', async () => {
  const script = `
    import { Output } from './src/cli/start/supervisor.ts';
    import { Supervisor } from './src/cli/start/supervisor.ts';
    const write = (text) => {
      process.stdout.write(text);
      if (text.includes('ended')) setImmediate(() => supervisor.stop());
    };
    const supervisor = new Supervisor(new Output({ write }));
    supervisor.startEntry({ name: 'web', program: 'false', words: [] }, 1, process.env);
  `;
  const result = await run(process.execPath, [...typeScriptWords, '--input-type=module', '-e', script]);
  assert.equal(result.code, 0);
  assert.deepEqual(result.stdout.match(/web\.1 ended/g), ['web.1 ended']);
});

test('supervisor: processes that watch their parent end with it, even if it is killed', async () => {
  const script = `
    import { Output } from './src/cli/start/supervisor.ts';
    import { Supervisor } from './src/cli/start/supervisor.ts';
    const child = "import('./src/process/run-process.ts').then((parent) => { parent.exitWithParent(); setInterval(() => {}, 1000); console.log('pid', process.pid); })";
    new Supervisor(new Output(process.stdout)).startEntry(
      { name: 'web', program: 'node', words: ['--import', './src/typescript/loader.mjs', '-e', child] }, 1, process.env);
  `;
  const parent = spawn(process.execPath, [...typeScriptWords, '--input-type=module', '-e', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) => {
    createInterface({ input: parent.stdout ?? new PassThrough() }).on('line', (line) => {
      const match = /pid (\d+)$/.exec(line);
      if (match !== null) resolve(Number(match[1]));
    });
  });
  assert.ok(isAlive(pid));
  parent.kill('SIGKILL');
  await until('the child is gone', () => !isAlive(pid));
});

test('supervisor: a Procfile is read in order, with quotes', () => {
  const entries = parseProcfile(
    `# ours\n\nweb: node --import ./loader.mjs workers/web.ts\njobs:  run "two words" 'and more'\r\n`,
    '/nowhere',
  );
  assert.deepEqual(entries, [
    { name: 'web', program: 'node', words: ['--import', './loader.mjs', 'workers/web.ts'] },
    { name: 'jobs', program: 'run', words: ['two words', 'and more'] },
  ]);
  assert.throws(() => parseProcfile('web node', '/nowhere'), /Procfile, line 1 must be 'name: command'/);
});

test('supervisor: files next to a Procfile are referred to by their absolute path', () => {
  const [entry] = parseProcfile('web: node --import ./src/typescript/loader.mjs workers/web.ts', root);
  assert.deepEqual(entry?.words, [
    '--import',
    path.join(root, 'src/typescript/loader.mjs'),
    path.join(root, 'workers/web.ts'),
  ]);
});

test('supervisor: on a terminal names are colored by role', () => {
  const written: string[] = [];
  const output = new Output({ isTTY: true, write: (text) => written.push(text) });
  output.line('web.1', 'a');
  output.line('worker.1', 'b');
  output.line('web.2', 'c');
  const colours = written.map((line) => line.slice(2, 4));
  assert.equal(colours[0], colours[2]);
  assert.notEqual(colours[0], colours[1]);
});

test('supervisor: the last output of Redis is shown when it ends, and when its disk is full', async (context) => {
  const { lines, supervisor } = start(context);
  const kept: string[] = [];
  const script = [
    'echo "# Error writing to the AOF file: No space left on device"',
    'echo "# Error writing to the AOF file: No space left on device"',
    'echo "* AOF write error looks solved, Redis can write again."',
    'echo "# Can\'t recover from AOF write error, exiting"',
    'exit 1',
  ].join('; ');
  const child = supervisor.add('redis', {
    command: { name: 'redis', program: 'sh', words: ['-c', script], env: process.env },
    endBy: 'endOfInput',
    follow: (output) => followRedis(output, kept, (text) => supervisor.say(text)),
    lastLines: kept,
  });
  child.keepRunning();
  await until('its last lines are shown', () => lines.matching(/The last lines of redis/).length > 0);
  await supervisor.stop();
  assert.equal(lines.matching(/^start +\| Redis cannot write its file/).length, 1);
  assert.equal(lines.matching(/^start +\| Redis can write its file again/).length, 1);
  assert.ok(lines.matching(/^start +\| # Can't recover from AOF write error/m).length > 0);
});
