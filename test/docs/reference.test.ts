/** The pages of the reference match the code: they have every row, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeTable } from '../../src/http/routing/route-table.ts';
import { rowsOf, textOf } from './support/markdown.ts';
import { listProblems } from './support/problem-list.ts';

/** A message with its placeholders as the page writes them. */
function withGaps(message: string): string {
  return message.replaceAll(/<[^>]*>/g, '…');
}

test('reference: errors have their status, name and message', () => {
  const documented = rowsOf(textOf('docs/reference/errors.md'), 'status').map(([status, name, message]) => ({
    status,
    name,
    message,
  }));
  const known = listProblems().map(({ status, errorCode, name, message }) => ({
    status: errorCode === null ? String(status) : `${status} \`${errorCode}\``,
    name: `\`${name}\``,
    message: withGaps(message),
  }));
  assert.deepEqual(documented, known);
});

test('reference: routes have the required key and scope', () => {
  const documented = rowsOf(textOf('docs/reference/routes.md'), 'endpoint').map(([endpoint, key, scope]) => ({
    endpoint,
    key,
    scope,
  }));
  const known = routeTable.map(({ method, path, access }) => ({
    endpoint: `\`${method.toUpperCase()} ${path}\``,
    key: {
      open: 'none',
      metrics: '`METRICS_KEY`',
      source: 'source',
      client: 'environment',
      management: 'management',
      reader: 'environment or management',
    }[access.kind],
    scope: access.kind === 'client' || access.kind === 'management' ? `\`${access.scope}\`` : '',
  }));
  assert.deepEqual(documented, known);
});
