import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { after, test } from 'node:test';
import { checkTlsFiles, readSettings, SettingsError } from '../../../src/config/settings/settings.ts';
import { root, runCommand, temporaryFolder } from '../../cli/support/command.ts';
import { writeFiles } from '../../jobs/support/platform.ts';
import { until } from '../../support/until.ts';
import { siteFiles, sourceKey } from '../../system/support/site.ts';
import { selfSigned } from '../support/certificate.ts';

const redisPort = 7260;
const port = 7270;

/** Names a host that no client here requests. */
const ofFront = await selfSigned('DNS:www.example.com');
const ofRedis = await selfSigned('IP:127.0.0.1');

function errorOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  return assert.fail('accepted');
}

test('TLS: TLS_CERT and TLS_KEY are set together or not at all', () => {
  assert.match(
    errorOf(() => readSettings({ TLS_CERT: 'a.pem' })),
    /TLS_CERT is set and TLS_KEY is not/,
  );
  assert.match(
    errorOf(() => readSettings({ TLS_KEY: 'a.pem' })),
    /TLS_KEY is set and TLS_CERT is not/,
  );
  assert.equal(readSettings({}).tls, null);
  const { tls } = readSettings({ TLS_CERT: ofFront.certFile, TLS_KEY: 'key.pem' });
  assert.deepEqual(tls, { certFile: ofFront.certFile, keyFile: path.resolve('key.pem') });
});

test('TLS: unusable files end the start with one line that names the file', async (context) => {
  checkTlsFiles(ofFront);
  const missing = { ...ofFront, keyFile: '/nowhere/key.pem' };
  assert.match(
    errorOf(() => checkTlsFiles(missing)),
    /^TLS_KEY: .*\/nowhere\/key\.pem/,
  );
  const swapped = { certFile: ofFront.keyFile, keyFile: ofFront.certFile };
  assert.match(
    errorOf(() => checkTlsFiles(swapped)),
    /^TLS_CERT: .* contains no certificate in PEM format/,
  );
  const strange = { certFile: ofFront.certFile, keyFile: ofRedis.keyFile };
  assert.match(
    errorOf(() => checkTlsFiles(strange)),
    /^TLS_KEY: .* does not contain the private key/,
  );
  const env = {
    TLS_CERT: strange.certFile,
    TLS_KEY: strange.keyFile,
    DATA_DIR: await temporaryFolder(context),
    PORT: String(port),
  };
  const { code, stderr } = await runCommand('start', [], { env });
  assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1], stderr);
  assert.match(stderr, /^TLS_KEY: /);
});

/** A Redis that accepts only TLS. */
async function startTlsRedis(): Promise<string> {
  const words = `--port 0 --tls-port ${redisPort} --bind 127.0.0.1 --tls-auth-clients no --save`.split(' ');
  const files = ['--tls-cert-file', ofRedis.certFile, '--tls-key-file', ofRedis.keyFile];
  const server = spawn('redis-server', [...words, '', ...files, '--tls-ca-cert-file', ofRedis.certFile], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  after(async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  let output = '';
  server.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  await until('Redis listens', () => output.includes('Ready to accept connections'));
  return `rediss://127.0.0.1:${redisPort}`;
}

test('TLS: npm start serves HTTPS over a Redis with TLS, and the import finds it there', async (context) => {
  const folder = await temporaryFolder(context);
  writeFiles(path.join(folder, 'config'), siteFiles({}));
  const env = {
    REDIS_URL: await startTlsRedis(),
    REDIS_CLUSTER: '',
    NODE_EXTRA_CA_CERTS: ofRedis.certFile,
    TLS_CERT: ofFront.certFile,
    TLS_KEY: ofFront.keyFile,
    CONFIG_DIR: path.join(folder, 'config'),
    DATA_DIR: path.join(folder, 'data'),
    HOST: '127.0.0.1',
    PORT: String(port),
    DEMO: 'off',
    WORKERS: '1',
    PARTITIONS: '4',
  };
  const distrusting = runCommand('backup', [path.join(folder, 'none.gz')], {
    env: { ...env, NODE_EXTRA_CA_CERTS: '' },
  });
  const start = spawn(process.execPath, ['src/cli/bootstrap.mjs', 'start'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(start, 'exit');
  let output = '';
  for (const stream of [start.stdout, start.stderr]) stream.on('data', (text) => (output += text));
  try {
    await until('the platform is ready', () => output.includes('Millrace is ready at'));
    assert.match(output, new RegExp(`Millrace is ready at https://127\\.0\\.0\\.1:${port}\n`));

    const file = path.join(folder, 'entities.ndjson');
    await writeFile(file, '{"originId":"a","type":"page","properties":{"title":"A"}}\n');
    const imported = await runCommand('import', [file, '--key', sourceKey], { env });
    assert.deepEqual([imported.code, /1 changed, 0 unchanged, 0 failed/.test(imported.stderr)], [0, true]);

    const { code, stderr } = await distrusting;
    assert.deepEqual(
      [code, /^Redis at rediss:.* has a certificate that is not trusted/.test(stderr)],
      [1, true],
      stderr,
    );
    const answer = await secureGet('/health/live');
    assert.equal(JSON.parse(answer).status, 200);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health/live`), 'plain HTTP is not spoken');
    await assert.rejects(fetch(`https://127.0.0.1:${port}/health/live`), 'the certificate is not trusted');
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${output}`);
  } finally {
    start.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  }
});

/** Like a client that was given the certificate and uses its host name. */
async function secureGet(at: string): Promise<string> {
  const options = { ca: ofFront.pem, servername: 'www.example.com', agent: false };
  const request = https.get(`https://127.0.0.1:${port}${at}`, options);
  const [response] = await once(request, 'response');
  let text = '';
  for await (const piece of response) text += piece;
  return text;
}
