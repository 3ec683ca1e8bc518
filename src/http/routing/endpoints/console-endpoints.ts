/** The console (docs/guide/console.md): a page and its files, which ask for nothing themselves. */
import type { RouteDefinition } from '../route-definition.ts';

const serving = {
  method: 'get',
  tag: 'console',
  access: { kind: 'open' },
  problems: 'plain',
  headers: [{ name: 'Accept-Encoding', prefixed: false, description: 'br and gzip are supported' }],
  problemStatuses: [404, 429, 500],
} as const;

export const consoleEndpoints: readonly RouteDefinition[] = [
  {
    ...serving,
    name: 'console',
    path: '/console',
    summary: 'The console: a page for people who run a tenant',
    parameters: [],
    answers: { 200: { description: 'HTML', contentType: 'text/html; charset=utf-8' } },
  },
  {
    ...serving,
    name: 'consoleView',
    path: '/console/{view}',
    takesSlashes: true,
    summary: 'A view of the console, or one of its files (`assets/…`)',
    parameters: [
      {
        name: 'view',
        in: 'path',
        required: true,
        shape: { type: 'string' },
        description: 'Can contain slashes',
      },
    ],
    answers: {
      200: { description: 'HTML; for a file, the type of its name', contentType: 'text/html; charset=utf-8' },
    },
  },
];
