import assert from 'node:assert/strict';
import { test } from 'node:test';
import { libraryError, loadHttpLibrary } from '../../../src/cli/bootstrap/http-library.mjs';

test('HTTP library: if it runs, nothing is printed', () => {
  assert.doesNotThrow(loadHttpLibrary);
});

test('HTTP library: if it does not run, one line says what is missing and what to do', () => {
  const old = libraryError(
    "This version of uWS.js supports only …\n\nError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by uws_linux_x64_137.node)",
  );
  assert.match(
    old,
    /needs glibc 2\.38 or newer with Node \d+, and this system has an older one\. Use Node 20/,
  );
  const none = libraryError(
    "This version of uWS.js supports only …\n\nError: Cannot find module './uws_x.node'",
  );
  assert.match(
    none,
    /does not run with Node [\d.]+ on this system \(Error: Cannot find.*Use Node 20, 22 or 24/,
  );
  for (const line of [old, none]) assert.ok(!line.includes('\n'));
});
