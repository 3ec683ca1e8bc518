/**
 * The container files refer to existing things: settings, roles, commands, ports, paths and scripts. No container is started
 * here.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { isCommand } from '../../src/cli/commands.mjs';
import { settingsTable } from '../../src/config/settings/table.ts';
import { root, run } from '../cli/support/command.ts';
import { textOf } from './support/markdown.ts';

const settingNames: readonly string[] = Object.values(settingsTable).map(({ variable }) => variable);
const ownVariables = ['NODE_ENV', 'BACKUP_DIR', 'KEEP_DAYS'];
const healthFile = 'docs/operations/container-health.mjs';
const imagePorts = [4000, 4100, 9100];

interface EnvEntry {
  readonly name: string;
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvEntry[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

interface Pod {
  readonly containers: readonly Container[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: Pod } };
}

interface Service {
  readonly command?: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

function manifestsOf(file: string): Manifest[] {
  return parseAllDocuments(textOf(file)).map((document): Manifest => document.toJS());
}

function assertSettings(names: readonly string[], where: string): void {
  for (const name of names) {
    assert.ok(settingNames.includes(name) || ownVariables.includes(name), `${where}: ${name} is no setting`);
  }
}

function assertArgument(word: string, where: string): void {
  assert.ok(isCommand(word), `${where}: the image runs no ${word}`);
}

test('containers: the Dockerfile copies existing files, and names existing settings, ports and scripts', () => {
  const text = textOf('Dockerfile').replaceAll('\\\n', ' ');
  const env = text.match(/^ENV (.*)$/m)?.[1]?.split(' ') ?? [];
  assertSettings(
    env.map((pair) => pair.split('=')[0] ?? ''),
    'Dockerfile',
  );
  assert.deepEqual(
    text
      .match(/^EXPOSE (.*)$/m)?.[1]
      ?.split(' ')
      .map(Number),
    imagePorts,
  );
  // Fronts in other containers reach workers there.
  for (const pair of ['PORT=4000', 'METRICS_PORT=9100', 'WORKER_HOST=0.0.0.0', 'WORKER_PORT=4100']) {
    assert.ok(env.includes(pair), env.join(' '));
  }
  for (const [, words = ''] of text.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
    for (const file of words.split(' ')) assert.ok(existsSync(path.join(root, file)), file);
  }
  for (const [, file = ''] of text.matchAll(/"(docs\/[^"]+)"/g)) {
    assert.ok(existsSync(path.join(root, file)), file);
  }
  const ignored = textOf('.dockerignore').split('\n');
  for (const name of ['.git', '.env', '.data', 'node_modules']) assert.ok(ignored.includes(name), name);
});

test('containers: compose.yaml starts every role with existing settings', () => {
  const compose: { services: Record<string, Service> } = parse(textOf('compose.yaml'), { merge: true });
  const { redis, ...own } = compose.services;
  assert.ok(redis);
  assert.deepEqual(Object.keys(own).sort(), ['jobs', 'web', 'worker']);
  for (const [name, { command, environment }] of Object.entries(own)) {
    assert.deepEqual(command, [name]);
    assertSettings(Object.keys(environment ?? {}), name);
  }
  assert.match(String(redis.command), /--appendfsync always .*--maxmemory-policy noeviction/);
});

test('containers: the Kubernetes manifests start every role with existing settings, ports and scripts', () => {
  const files = readdirSync(path.join(root, 'docs/kubernetes')).filter(
    (file) => file !== 'kustomization.yaml',
  );
  const { resources }: { resources: string[] } = parse(textOf('docs/kubernetes/kustomization.yaml'));
  assert.deepEqual([...resources, 'apply.yaml'].sort(), files.sort());
  const manifests = files.flatMap((file) => manifestsOf(`docs/kubernetes/${file}`));
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap');
  assertSettings(Object.keys(settings?.data ?? {}), 'settings.yaml');

  const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
  const own = containers.filter(({ image }) => image.includes('millrace'));
  assert.deepEqual(own.map(({ args }) => args?.[0]).sort(), ['apply', 'jobs', 'web', 'worker']);
  for (const { args, env, envFrom, ports } of own) {
    const role = args?.[0] ?? '';
    assertArgument(role, role);
    assertSettings(
      (env ?? []).map(({ name }) => name),
      role,
    );
    assert.equal(envFrom?.[0]?.configMapRef.name, settings?.metadata.name);
    for (const { containerPort } of ports ?? []) assert.ok(imagePorts.includes(containerPort), role);
  }
  const text = files.map((file) => textOf(`docs/kubernetes/${file}`)).join('\n');
  for (const [, file] of text.matchAll(/"node", "([^"]+)"/g)) assert.equal(file, healthFile);
  assert.ok(existsSync(path.join(root, healthFile)));
  const kinds = manifests.map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'PodDisruptionBudget').length, 2);
});

test('containers: a container runs the line of the Procfile for a role, and anything else as a command', async () => {
  const container = (words: readonly string[], env: Record<string, string> = {}) =>
    run('sh', ['docs/operations/container.sh', ...words], { cwd: root, env });
  for (const role of ['web', 'worker', 'jobs', 'small']) {
    const { code, stderr } = await container([role], { PORT: 'none' });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^${role}: PORT`, 'm'));
  }
  const help = await container(['check', '--help']);
  assert.equal(help.code, 0, help.stderr);
  assert.match(help.stdout, /Usage: .*check/);
});

test('containers: the health check fails if nothing responds', async () => {
  const dead = await run('node', [healthFile], { cwd: root, env: { METRICS_PORT: '1' } });
  assert.deepEqual([dead.code, dead.stdout], [1, 'nothing responds on port 1 (METRICS_PORT)\n']);
});
