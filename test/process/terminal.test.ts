import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { Output, Supervisor } from '../../src/cli/start/supervisor.ts';
import { logTextFor } from '../../src/cli/terminal/log-text.ts';
import { programWords } from '../../src/typescript/clone-or-package.mjs';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const colourPattern = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const onlyOnLinux = { skip: process.platform === 'linux' ? false : 'script(1) has other words elsewhere' };

/** The output of a jobs process until it is ready. @param terminal whether its standard output is one */
async function outputOfJobs(terminal: boolean, env: Record<string, string>): Promise<string> {
  const redis = await TestRedis.open();
  const words = [process.execPath, ...programWords, 'workers/jobs.ts'];
  const [program = '', ...rest] = terminal
    ? ['script', '--quiet', '--return', '--flush', '--command', `exec ${words.join(' ')}`, '/dev/null']
    : words;
  const child = spawn(program, rest, {
    env: { ...process.env, NO_COLOR: '', REDIS_URL: redis.url, CONFIG_DIR: 'config', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  try {
    await until('it is ready', () => text.includes('ready') && text.endsWith('\n'));
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
    await redis.stop();
  }
  return text;
}

test('terminal: otherwise a log is lines of JSON', async () => {
  const text = await outputOfJobs(false, {});
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(
    lines.some(({ name, level, msg }) => name === 'jobs' && level === 30 && msg === 'ready'),
    text,
  );
});

test('terminal: on a terminal a log is readable lines, in color', onlyOnLinux, async () => {
  const text = await outputOfJobs(true, {});
  const line = text.replaceAll(colourPattern, '');
  assert.notEqual(line, text);
  assert.match(line, /(?:^|\n)\[\d\d:\d\d:\d\d\.\d{3}\] INFO: ready \{"id":"[\w.-]+"\}\r?\n/);
});

test('terminal: NO_COLOR turns colors off', onlyOnLinux, async () => {
  const text = await outputOfJobs(true, { NO_COLOR: '1' });
  assert.match(text, /(?:^|\n)\[[\d:.]{12}\] INFO: ready \{/);
});

test('terminal: npm start forwards the logs of its processes as readable lines, each with the name of its process', async (context) => {
  const written: string[] = [];
  const terminal = { isTTY: true, write: (text: string) => written.push(text) };
  const record = {
    level: 50,
    time: 1_700_000_000_000,
    name: 'web',
    err: { stack: 'Error: x\n  at y' },
    msg: 'broke',
  };
  const script = `console.log(${JSON.stringify(JSON.stringify(record))}); console.log('{"level":1} as it is'); setInterval(() => {}, 1000)`;
  const supervisor = new Supervisor(new Output(terminal, await logTextFor(terminal)));
  context.after(() => supervisor.kill());
  supervisor.startEntry({ name: 'web', program: 'node', words: ['-e', script] }, 1, process.env);
  await until('both lines are there', () => written.join('').includes('as it is'));
  const lines = written.join('').replaceAll(colourPattern, '').trimEnd().split('\n');
  for (const line of lines) assert.match(line, /^web\.1 {4}\| /);
  assert.match(lines[0] ?? '', /\| \[\d\d:\d\d:\d\d\.000\] ERROR: broke/);
  assert.ok(lines.some((line) => line.trimEnd().endsWith('at y')));
  assert.equal(lines.at(-1), 'web.1    | {"level":1} as it is');
});
