import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type CommandName, commands, isCommand } from '../../src/cli/commands.mjs';
import { handleArguments } from '../../src/cli/help.mjs';
import { script } from '../../src/lib/typed-command.mjs';
import { type CommandResult, root, run } from './support/command.ts';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
);
/** Development tools with their own help, and scripts that npm runs by itself. */
const tools = ['lint', 'format', 'types', 'prepack'];
const names = Object.keys(scripts).filter((name) => !tools.includes(name));

/** Runs a script of package.json in a shell, like npm but without npm itself. */
function runScript(name: string, args: string[]): Promise<CommandResult> {
  const env = { REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'silent' };
  return run('sh', ['-c', `${scripts[name]} "$@"`, name, ...args], { env });
}

/** The output of a command for its arguments without running it, in the process of the test. */
function outputOf(context: TestContext, name: CommandName, args: string[]): CommandResult {
  const [out, err]: [string[], string[]] = [[], []];
  context.mock.method(console, 'log', (line: string) => out.push(`${line}\n`));
  context.mock.method(console, 'error', (line: string) => err.push(`${line}\n`));
  try {
    return { code: handleArguments(name, args), stdout: out.join(''), stderr: err.join('') };
  } finally {
    context.mock.restoreAll();
  }
}

/** Scripts that differ only in their command. Only `check`, which has another exit code, is started as a process. */
const plainCommandPattern = /^exec node (?:--single-threaded )?src\/cli\/bootstrap\.mjs (?!check)(\w+)$/;

/**
 * Roles of processes, which load all their code before they read their arguments. Each prints its own help; only `small` is
 * started to reject an option.
 */
const rolePattern = /^exec node .*run\.mjs workers\/(?:web|partition|jobs)\.ts$/;

/** Starts the script, or only reads the arguments of its command if another script is started the same way. */
async function resultOf(context: TestContext, name: string, args: string[]): Promise<CommandResult> {
  const script = scripts[name] ?? '';
  const isRoleRejecting = rolePattern.test(script) && !args.includes('--help');
  const command = isRoleRejecting ? name : plainCommandPattern.exec(script)?.[1];
  return command !== undefined && isCommand(command)
    ? outputOf(context, command, args)
    : await runScript(name, args);
}

test('commands: the table lists exactly the scripts of package.json', () => {
  const typed = Object.keys(commands).map((name) => script(name).replace(/^npm (?:run )?/, ''));
  assert.deepEqual(typed.toSorted(), names.toSorted());
});

describe('help: every script', () => {
  for (const name of names) {
    test(`${name} --help: prints description, options, example and exit codes, and does nothing else`, async (context) => {
      const { code, stdout, stderr } = await resultOf(context, name, ['--help']);
      assert.deepEqual([code, stderr], [0, '']);
      const typed = name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`;
      assert.ok(stdout.startsWith(`Usage: ${typed}`), stdout);
      assert.match(stdout, /^ {2}--help +show this help$/m);
      assert.match(stdout, new RegExp(`^Example: .*${typed}`, 'm'));
      assert.match(stdout, /^Exit code 0/m);
      for (const line of stdout.split('\n')) {
        assert.ok(line.length <= 80 || line.startsWith('Example: '), line);
      }
    });

    // The suite passes its options on to Node's test runner.
    if (name === 'test') continue;
    test(`${name}: rejects an unknown option in one line that names --help`, async (context) => {
      const { code, stdout, stderr } = await resultOf(context, name, ['--no-such-option']);
      assert.equal(code, name === 'check' ? 2 : 1);
      assert.equal(stdout, '');
      assert.match(stderr, /^Unknown option '--no-such-option'\. See: npm (run )?[\w-]+ -- --help\n$/);
    });
  }
});

test('options before --: commands stop and say where options belong, because npm consumed them', async () => {
  const env = { REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'silent' };
  const taken = async (...args: string[]) => (await run('npm', ['run', '-s', ...args], { env })).stderr;
  assert.equal(
    await taken('apply', '--dry-run'),
    'npm consumed --dry-run. Write options after --, as in: npm run apply -- --dry-run\n',
  );
  assert.match(await taken('apply', '--no-wait'), /^npm consumed --no-wait\. /);
  assert.match(await taken('import', 'f', '--key', 'k', '--url', 'u'), /^npm consumed --url\. /);
  assert.match(await taken('view-types', '--out=f'), /^npm consumed --out\. /);
  // An option that is repeated after --, or that is also an npm setting, is fine.
  assert.match(await taken('apply', '--dry-run', '--', '--dry-run'), /^Redis at .* does not respond/);
  assert.match(await taken('apply', '--yes', '--json'), /^Redis at .* does not respond/);
});

test('help: backup says that it is the way back from an upgrade', () => {
  assert.match(commands.backup.does, /Make one before an upgrade: .* earlier version, .* the way back/);
});

test('help: names settings with the defaults of the reference', () => {
  const page = readFileSync(path.join(root, 'docs/reference/settings.md'), 'utf8');
  const named = [...commands.start.does.matchAll(/^ {2}([A-Z_]+) .*\(default: (.*)\)$/gm)];
  assert.ok(named.length >= 6);
  for (const [, name = '', value = ''] of named) {
    const [row = ''] = page.match(new RegExp(`^\\| \`${name}\` .*|^\\| .*\`${name}\`, .*`, 'm')) ?? [];
    const [, , cell = ''] = row.split('|');
    const usual = cell.replaceAll('`', '').trim().replace('−', '-');
    assert.ok(usual === 'none' || usual.startsWith(value), `${name}: ${value} is not ${usual}`);
  }
});
