import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { sumOfWaiting } from '../../src/cli/start/wait-until-settled.ts';
import { affectedTests, gitChanges, summaryOf } from '../../src/cli/test/affected-tests.ts';
import { canShare, writeSharing } from '../../src/cli/test/shared-processes.ts';
import { layerTests, longest, namedFiles, testFiles } from '../../src/cli/test/test-files.ts';
import { root as repository, run, runCommand, temporaryFolder } from './support/command.ts';

test('suite: system tests are kept separate from those of the layers', async (context) => {
  const root = await temporaryFolder(context);
  const ofLayers = ['test/cli/start.test.ts', 'test/layers.test.ts', 'test/store/keys.test.ts'];
  const ofSystem = [
    'test/cli/package.test.ts',
    'test/system/failures/crash.test.ts',
    'test/simulator/redis.test.ts',
  ];
  for (const file of [...ofLayers, ...ofSystem, 'test/store/wait.ts']) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), '');
  }
  assert.deepEqual(layerTests(root).sort(), ofLayers);
  assert.deepEqual(testFiles(root).sort(), [...ofLayers, ...ofSystem].sort());
});

test('suite: a folder selects its tests, and a missing file is reported in one line', async (context) => {
  const root = await temporaryFolder(context);
  for (const file of ['test/lib/a.test.ts', 'test/lib/deep/b.test.ts', 'test/library/c.test.ts']) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), '');
  }
  assert.deepEqual(namedFiles(root, ['test/lib/', '--test-only']), [
    'test/lib/a.test.ts',
    'test/lib/deep/b.test.ts',
    '--test-only',
  ]);
  assert.deepEqual(namedFiles(root, ['test/library/c.test.ts']), ['test/library/c.test.ts']);
  const { code, stderr } = await runCommand('test', ['test/lib/no.test.ts']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^test\/lib\/no\.test\.ts does not exist\. Give a test file or a folder, such as \S+\n$/,
  );
});

test('suite: files share processes, except the slowest and those with hooks for each test', async (context) => {
  const root = await temporaryFolder(context);
  for (const folder of ['test/lib', 'test/cli']) mkdirSync(path.join(root, folder), { recursive: true });
  const body = (name: string) => `import { test } from 'node:test'; test('${name}', () => {});`;
  const files = Array.from('abcdefghijklmnop').map((name) => `test/lib/${name}.test.ts`);
  for (const file of files) writeFileSync(path.join(root, file), body(file));
  writeFileSync(path.join(root, 'test/lib/hook.test.ts'), `${body('hook')}\nbeforeEach(() => {});`);
  writeFileSync(path.join(root, 'test/cli/a.test.ts'), `${body('cli')}\nbeforeEach(() => {});`);
  writeFileSync(path.join(root, 'test/cli/package.test.ts'), body('package'));
  assert.ok(files.every((file) => canShare(root, file)));
  assert.equal(canShare(root, 'test/lib/hook.test.ts'), false);
  assert.ok(canShare(root, 'test/cli/a.test.ts'));
  assert.equal(canShare(root, 'test/cli/package.test.ts'), false);

  const { modules, remove } = writeSharing(root, files);
  const { code, stdout } = await runCommand('test', modules);
  assert.equal(code, 0, stdout);
  // Each process has its own test, which waits for the files.
  assert.match(stdout, new RegExp(`ℹ pass ${files.length + modules.length}\\n`));
  for (const file of files) assert.ok(stdout.includes(file), file);
  assert.ok(modules.length < files.length);
  remove();
  assert.deepEqual(modules.filter(existsSync), []);
});

test('suite: resources that a file cleans up at its end exist until the tests of a slower one have run', async (context) => {
  const root = await temporaryFolder(context);
  mkdirSync(path.join(root, 'test/lib'), { recursive: true });
  const quick = `import { after, test } from 'node:test';
    globalThis.isThere = true;
    after(() => { globalThis.isThere = false; });
    test('quick', () => {});`;
  const slow = `import assert from 'node:assert';
    import { test } from 'node:test';
    import { setTimeout } from 'node:timers/promises';
    await setTimeout(300);
    test('slow', () => assert.ok(globalThis.isThere));`;
  // There is one file more than processes, so the first two share one.
  const idle = Array.from({ length: 11 }, (_, at) => `test/lib/c${at}.test.ts`);
  const files = ['test/lib/a.test.ts', 'test/lib/b.test.ts', ...idle];
  for (const file of files) writeFileSync(path.join(root, file), '');
  writeFileSync(path.join(root, 'test/lib/a.test.ts'), quick);
  writeFileSync(path.join(root, 'test/lib/b.test.ts'), slow);
  const { modules, remove } = writeSharing(root, files);
  const { code, stdout } = await runCommand('test', modules.slice(0, 1));
  assert.equal(code, 0, stdout);
  assert.match(stdout, /✔ slow/);
  remove();
});

test('suite: files that use the shared platform take turns in two processes, others in their own, and the hooks of each run in its turn', async (context) => {
  const root = await temporaryFolder(context);
  const support = 'test/system/support/processes/shared-platform.ts';
  mkdirSync(path.join(root, path.dirname(support)), { recursive: true });
  mkdirSync(path.join(root, 'test/lib'));
  writeFileSync(
    path.join(root, support),
    `import { after } from 'node:test'; after(() => console.log('end')); export const sharedPlatform = 1;`,
  );
  const ofPlatform = ['a', 'b', 'c', 'd'].map((name) => `test/system/${name}.test.ts`);
  for (const file of ofPlatform) {
    const text = `import { sharedPlatform } from './support/processes/shared-platform.ts';
      import { after, before, test } from 'node:test';
      const say = (what) => () => console.log(what, ${JSON.stringify(file)});
      before(say('before'));
      after(say('after'));
      test('its test', say('test'));`;
    writeFileSync(path.join(root, file), text);
  }
  writeFileSync(path.join(root, 'test/lib/e.test.ts'), '');
  writeFileSync(path.join(root, 'test/system/own.test.ts'), '');
  const files = [...ofPlatform, 'test/system/own.test.ts', 'test/lib/e.test.ts'];
  assert.ok(files.every((file) => canShare(root, file)));
  const { modules, remove } = writeSharing(root, files);
  context.after(remove);
  const texts = modules.map((module) => readFileSync(module, 'utf8'));
  const together = texts.map((text) => files.filter((file) => text.includes(path.join(root, file))));
  const [a, b, c, d, ...others] = files;
  assert.deepEqual(together, [[a, c], [b, d], ...others.map((file) => [file])]);
  const { code, stdout } = await runCommand('test', modules.slice(0, 1));
  assert.equal(code, 0, stdout);
  const turn = (file: string | undefined) => ['before', 'test', 'after'].map((what) => `${what} ${file}`);
  const said = stdout.split('\n').filter((line) => /^(?:before|test|after) test\/|^end$/.test(line));
  assert.deepEqual(said, [...turn(a), ...turn(c), 'end']);
});

test('suite: the slowest files are started first', async (context) => {
  const root = await temporaryFolder(context);
  const inOrder = longest.slice(0, 2);
  const aShortOne = 'test/a-short-one.test.ts';
  for (const file of [...inOrder, aShortOne]) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), '');
  }
  assert.deepEqual(testFiles(root), [...inOrder, aShortOne]);
  const known = new Set(testFiles(repository));
  assert.deepEqual(
    longest.filter((file) => !known.has(file)),
    [],
  );
});

test('suite: the waiting work is read from the metrics of all workers', () => {
  const metrics = [
    '# TYPE millrace_stream_lag_entries gauge',
    'millrace_stream_lag_entries{partition="0",process="a",role="worker"} 3',
    'millrace_stream_lag_entries{partition="1",process="b",role="worker"} 0',
    'millrace_rebuilds_waiting{partition="1",process="b",role="worker"} 4',
    'millrace_entities_processed_total{process="b",role="worker"} 100',
  ].join('\n');
  assert.equal(sumOfWaiting(metrics), 7);
  assert.equal(sumOfWaiting(''), 0);
});

test('suite: only the given files are run, and a failing test sets the exit code', async (context) => {
  const folder = await temporaryFolder(context);
  const write = (name: string, body: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, `import { test } from 'node:test'; test('it', () => { ${body} });`);
    return file;
  };
  const good = await runCommand('test', [write('good.test.mjs', '')]);
  assert.equal(good.code, 0, good.stdout);
  assert.match(good.stdout, /ℹ pass 1\n/);
  const bad = await runCommand('test', [write('bad.test.mjs', 'throw new Error("no")')]);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /ℹ fail 1\n/);
});

test('suite: a file that fails while others run is run once more, alone', async (context) => {
  const folder = await temporaryFolder(context);
  const write = (name: string, body: string) => {
    const file = path.join(folder, name);
    writeFileSync(
      file,
      `import { existsSync, writeFileSync } from 'node:fs'; import { test } from 'node:test'; ${body}`,
    );
    return file;
  };
  const mark = JSON.stringify(path.join(folder, 'was-here'));
  const once = `test('it', () => { if (existsSync(${mark})) return; writeFileSync(${mark}, ''); throw new Error('no'); });`;
  const [good, sometimes, never] = [
    write('good.test.ts', "test('it', () => {});"),
    write('sometimes.test.ts', once),
    write('never.test.ts', "test('it', () => { throw new Error('never'); });"),
  ];
  const passed = await runCommand('test', [good, sometimes]);
  assert.equal(passed.code, 0, passed.stdout);
  assert.match(
    passed.stdout,
    /They run once more, alone:\n.*sometimes\.test\.ts\n.*passed alone.*sometimes\.test\.ts\n/s,
  );
  const failed = await runCommand('test', [good, never]);
  assert.equal(failed.code, 1);
  assert.doesNotMatch(failed.stdout, /passed alone/);
  const single = await runCommand('test', [never]);
  assert.equal(single.code, 1);
  assert.doesNotMatch(single.stdout, /once more/);
});

test('suite: a process that stays open after its tests reports why; one that hangs in a test does not', async (context) => {
  const folder = await temporaryFolder(context);
  const run = async (name: string, body: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, `import { createServer } from 'node:net'; import { test } from 'node:test'; ${body}`);
    return await runCommand('test', ['--test-timeout=15000', file]);
  };
  const [open, hanging] = await Promise.all([
    run('open.test.mjs', "test('it', () => { createServer().listen(0); });"),
    run('hanging.test.mjs', "test('it', () => new Promise(() => setInterval(() => {}, 100)));"),
  ]);
  assert.equal(open.code, 1);
  assert.match(open.stdout, /✔ it/);
  assert.match(open.stdout, /their process does not exit. These keep it open: .*TCPServerWrap/);
  assert.equal(hanging.code, 1);
  assert.doesNotMatch(hanging.stdout, /does not exit/);
});

/** A small repository. The content of each file declares what it needs. */
const smallRepository = {
  'README.md': '',
  Procfile: 'web: node workers/web.ts\n',
  'package.json': '{}',
  'docs/README.md': '',
  'src/lib/text.ts': "import type { A } from './types.ts';",
  'src/lib/types.ts': '',
  'src/http/page.ts': "export * from '../lib/text.ts'; // not '../store/store.ts'",
  'src/store/store.ts': `const script = new URL(\`../scripts/\${name}.lua\`, import.meta.url);`,
  'src/store/styles/page.css': '',
  'src/scripts/move.lua': '',
  'src/cli/platform.ts': "const procfile = new URL('../../Procfile', import.meta.url);",
  'src/cli/start.ts': "await import('./platform.ts');",
  'src/cli/bootstrap/run-command.mjs': '',
  'src/cli/bootstrap.mjs': "import './bootstrap/run-command.mjs';",
  'workers/web.ts': "import '../src/http/page.ts';",
  'test/layers.test.ts': '',
  'test/docs/links.test.ts': "readFile(path.join(root, 'docs'))",
  'test/docs/guide.test.ts': '',
  'test/lib/text.test.ts': "import '../../src/lib/text.ts';",
  'test/store/store.test.ts': "import '../../src/store/store.ts';",
  'test/system/support.ts': "spawn('node', [path.join(root, 'workers/web.ts')]);",
  'test/system/web.test.ts': "import './support.ts';",
  'test/cli/start.test.ts': "run('node', ['src/cli/bootstrap.mjs', 'start']);",
};
const ofDocuments = ['test/docs/guide.test.ts', 'test/docs/links.test.ts', 'test/layers.test.ts'];
const checks = ['test/docs/links.test.ts', 'test/layers.test.ts'];

function writeAll(root: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
}

for (const [changed, expected] of [
  [
    'src/lib/types.ts',
    ['test/cli/start.test.ts', 'test/lib/text.test.ts', 'test/system/web.test.ts', ...checks],
  ],
  ['src/store/store.ts', ['test/store/store.test.ts', ...checks]],
  ['src/scripts/move.lua', ['test/store/store.test.ts', ...checks]],
  ['src/store/styles/page.css', ['test/store/store.test.ts', ...checks]],
  ['src/store/removed.ts', ['test/store/store.test.ts', ...checks]],
  ['src/cli/platform.ts', ['test/cli/start.test.ts', ...checks]],
  ['test/system/support.ts', ['test/system/web.test.ts', ...checks]],
  ['test/lib/text.test.ts', ['test/lib/text.test.ts', ...checks]],
  ['docs/README.md', ofDocuments],
  ['README.md', ofDocuments],
  ['LICENSE', []],
] as const) {
  test(`test --changed: a change of ${changed} runs what imports, starts or reads it`, async (context) => {
    const root = await temporaryFolder(context);
    writeAll(root, smallRepository);
    const affected = await affectedTests(root, testFiles(root), Object.keys(smallRepository), [changed]);
    assert.equal(affected.undecided, null);
    assert.deepEqual([...affected.tests].sort(), [...expected].sort());
  });
}

for (const changed of ['package.json', 'tsconfig.json', 'config/tenants/atlas/tenant.json', 'Procfile']) {
  test(`test --changed: a change of ${changed} runs all tests`, async (context) => {
    const root = await temporaryFolder(context);
    writeAll(root, smallRepository);
    const all = testFiles(root);
    const affected = await affectedTests(root, all, Object.keys(smallRepository), [
      'docs/README.md',
      changed,
    ]);
    assert.deepEqual(affected, { tests: all, undecided: changed });
  });
}

test('test --changed: counts commits of the branch, the index, the working tree and new files', async (context) => {
  const root = await temporaryFolder(context);
  const git = async (...words: string[]) => {
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
    const { code, stderr } = await run('git', [...author, ...words], { cwd: root });
    assert.equal(code, 0, stderr);
  };
  const names = ['committed', 'staged', 'edited', 'deleted', 'kept'];
  writeAll(root, Object.fromEntries(names.map((name) => [`${name}.md`, ''])));
  await git('init', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '-m', 'first');
  await git('checkout', '-b', 'branch');
  writeAll(root, { 'committed.md': 'b', '.gitignore': 'ignored.md\n' });
  await git('add', '.');
  await git('commit', '-m', 'second');
  writeAll(root, { 'staged.md': 'c' });
  await git('add', '.');
  writeAll(root, { 'edited.md': 'd', 'new ü.md': '', 'ignored.md': '' });
  rmSync(path.join(root, 'deleted.md'));

  const changedHere = ['deleted.md', 'edited.md', 'new ü.md', 'staged.md'];
  const sinceMain = gitChanges(root, null);
  assert.equal(sinceMain.since, 'main');
  assert.deepEqual(sinceMain.changed, ['.gitignore', 'committed.md', ...changedHere]);
  assert.ok(!sinceMain.files.includes('deleted.md') && sinceMain.files.includes('kept.md'));
  assert.deepEqual(gitChanges(root, 'HEAD').changed, changedHere);
  assert.throws(() => gitChanges(root, 'no-such'), /--changed=no-such: git finds no commit/);
  assert.throws(() => gitChanges(root, '--output=x'), /git finds no commit/);
});

test('test --changed: without a repository, or with other arguments, it says in one line what to do', async (context) => {
  const folder = await temporaryFolder(context);
  assert.throws(() => gitChanges(folder, null), /--changed needs a git repository/);
  const { code, stderr } = await runCommand('test', ['--changed', 'test/lib']);
  assert.equal(code, 1);
  assert.equal(stderr, '--changed chooses the tests itself. Leave the other arguments out.\n');
});

test('test --changed: prints what it runs and why', () => {
  const files = ['a.ts', 'b.ts', 'c.ts', 'd.ts'];
  const some = { tests: ['test/a.test.ts'], undecided: null };
  assert.equal(
    summaryOf(some, 9, 'main', files),
    'Running 1 of 9 test files: they depend on what changed since main: a.ts, b.ts, c.ts and 1 more.',
  );
  const none = { tests: [], undecided: null };
  assert.equal(summaryOf(none, 9, 'main', []), 'Running no test files: nothing changed since main.');
  assert.equal(
    summaryOf(none, 9, 'main', ['LICENSE']),
    'Running no test files: none depends on what changed since main: LICENSE.',
  );
  assert.equal(
    summaryOf({ tests: [], undecided: 'package.json' }, 9, 'main', files),
    'Running all 9 test files: package.json changed since main, and any test may depend on it.',
  );
});
