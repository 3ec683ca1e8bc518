/** `GET /console`: the page for people who run a tenant, and its files (docs/guide/console.md). */
import path from 'node:path';
import { type ConsoleFile, pageName } from '../../console/files.mjs';
import { ProblemError, problems } from '../../contract/errors.ts';
import { type Answer, type HeaderField, htmlType, scriptType, styleType, svgType } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { codingFor } from '../content-coding.ts';
import type { Services } from '../services.ts';

/**
 * The page loads nothing from other origins, runs only its own scripts, and cannot be framed. So the text of an entity cannot
 * become code, and keys can only be sent to this server.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const safeHeaders: readonly HeaderField[] = [
  ['Content-Security-Policy', policy],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

const contentTypes: Readonly<Record<string, string>> = {
  '.html': htmlType,
  '.js': scriptType,
  '.css': styleType,
  '.svg': svgType,
};

/** The names of scripts and styles contain their digests, so a file with such a name never changes. */
const digestPattern = /-[A-Z0-9]{8}\.(?:js|css)$/;
const assetPath = /^assets\/(.+)$/;

/** An asset, or the page for any other path: the script in it reads the path and shows that view. @throws ProblemError 404 */
export function consolePage({ consoleFiles }: Services): Handler {
  return async (call) => {
    if (consoleFiles === null) throw new ProblemError(problems.pathUnknown);
    const [rest = ''] = call.parameters;
    const asset = assetPath.exec(rest)?.[1];
    const file = (await consoleFiles()).get(asset ?? pageName);
    if (file === undefined) throw new ProblemError(problems.pathUnknown);
    return fileAnswer(file, call);
  };
}

function fileAnswer({ name, plain, gzip, br }: ConsoleFile, call: Call): Answer {
  const coding = codingFor(plain, call.header('accept-encoding'));
  const body = { identity: plain, gzip, br }[coding];
  const caching = digestPattern.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';
  const coded: readonly HeaderField[] = coding === 'identity' ? [] : [['Content-Encoding', coding]];
  return {
    status: 200,
    body,
    contentType: contentTypes[path.extname(name)] ?? 'application/octet-stream',
    headers: [...safeHeaders, ['Cache-Control', caching], ['Vary', 'Accept-Encoding'], ...coded],
  };
}
