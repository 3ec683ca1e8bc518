/** A real browser for tests: headless Chromium. `npm test` installs it if it is missing. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Starts a separate browser. It can access only this machine. Close it when the test is over. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'chromium'))
    .find((file) => existsSync(file));
  if (executablePath === undefined) throw new Error('no chromium is on the PATH: npm test installs it');
  return chromium.launch({
    executablePath,
    // Without a sandbox, because tests often run as root, where Chromium has none.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

/** A page served from its own port, and so from its own origin. */
export interface ServedPage {
  readonly origin: string;
  close(): Promise<void>;
}

export async function servePage(html = '<!doctype html><title>page</title>'): Promise<ServedPage> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
