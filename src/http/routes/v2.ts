/**
 * `GET /routes/v2`: all routes, 500 per page, with a continuation token. With `format=sitemap`: the pages of a site as a
 * sitemap or sitemap index (https://www.sitemaps.org/protocol.html, docs/reference/http.md "Listing routes").
 */
import type { Domain } from '../../config/configuration.ts';
import { normalizeUrl } from '../../config/urls/url.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { routesPageMax, sitemapRangeUrls, sitemapUrlsMax } from '../../contract/limits.ts';
import {
  listedUrlsAfter,
  listRoutes,
  type RouteEntry,
  type RouteScope,
  routeEntries,
} from '../../store/claims/routes.ts';
import type { Store } from '../../store/store.ts';
import { type Answer, jsonAnswer, xmlType } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { requestedText, waitForRequestedVersion } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { routeResult, routesOf, sealUrl, unsealUrl } from './route-parts.ts';

const urlsPerRead = 2000;
const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';

export function listRoutesV2(services: Services): Handler {
  return async (call) => {
    const scope = routesOf(services, call.client);
    const list = `routes/v2:${scope.tenant}:${scope.environmentId}`;
    const { store } = services;
    const token = requestedToken(call);
    const format = requestedText(call, 'format') ?? 'json';
    const base = requestedText(call, 'base');
    if (format !== 'json' && format !== 'sitemap') throw new ProblemError(problems.routesFormatInvalid);
    if (format === 'sitemap') {
      const site = siteOf(base, call.client.domains, call.header('host'));
      await waitForRequestedVersion(services, call, scope.tenant);
      return await new Sitemap(store, scope, site).answer(token);
    }
    const after = token === '' ? null : unsealUrl(store.secret, list, token);
    if (token !== '' && after === null) throw new ProblemError(problems.continuationTokenInvalid);
    await waitForRequestedVersion(services, call, scope.tenant);
    const { entries, hasMore } = await listRoutes(store, scope, {
      direction: 'ascending',
      limit: routesPageMax,
      ...(after === null ? {} : { after }),
    });
    const last = entries.at(-1);
    return jsonAnswer(200, {
      continuationToken: hasMore && last !== undefined ? sealUrl(store.secret, list, last.url) : null,
      results: entries.map(routeResult),
    });
  };
}

function requestedToken(call: Call): string {
  const header = call.header('x-continuation-token');
  return header === '' ? (requestedText(call, 'continuationToken') ?? '') : header;
}

/** A range of URLs in the list of routes, `after` excluded and `until` included; null for an open end. */
interface Range {
  readonly after: string | null;
  readonly until: string | null;
}

const everything: Range = { after: null, until: null };

export interface SitemapLimits {
  /** Maximum number of URLs in one file. */
  readonly urlsMax: number;
  /** URLs of each file of an index: fewer than the maximum, to leave room for new ones. */
  readonly rangeUrls: number;
}

/** The site that a sitemap is for. */
export interface Site {
  /** Origin for relative routes. */
  readonly origin: string;
  /** Pages with another host are left out. */
  readonly excludesOtherHosts: boolean;
}

/**
 * @param asked the parameter `base`; null for the first hostname in the client's domains
 * @param host of the request, used if no domain has a hostname
 * @throws ProblemError `sitemapBaseInvalid`
 */
export function siteOf(asked: string | null, domains: readonly Domain[], host: string): Site {
  const named = domains.flatMap(({ hostnames }) => hostnames).find((hostname) => hostname !== '*');
  const base = asked ?? `https://${named ?? host}`;
  const url = normalizeUrl(base);
  const isOrigin = url !== null && url.host !== null && url.path === '/' && URL.canParse(base);
  if (!isOrigin) throw new ProblemError(problems.sitemapBaseInvalid);
  return { origin: new URL(base).origin, excludesOtherHosts: asked !== null };
}

export class Sitemap {
  readonly #list: string;

  constructor(
    private readonly store: Store,
    private readonly scope: RouteScope,
    private readonly site: Site,
    private readonly limits: SitemapLimits = { urlsMax: sitemapUrlsMax, rangeUrls: sitemapRangeUrls },
  ) {
    this.#list = `sitemap:${scope.tenant}:${scope.environmentId}`;
  }

  /**
   * @param token of a file of the index; empty for the whole sitemap, or for the index if there are too many URLs for one file
   * @throws ProblemError `continuationTokenInvalid`; StoreUnavailableError
   */
  async answer(token: string): Promise<Answer> {
    const range = token === '' ? null : this.#rangeOf(token);
    const body = range === null ? await this.#whole() : await this.#file(range);
    return { status: 200, body, contentType: xmlType };
  }

  async #whole(): Promise<string> {
    const ranges = await this.#ranges();
    return ranges === null ? await this.#file(everything) : this.#index(ranges);
  }

  /** Ranges of the list of routes; null when all fit into one file. */
  async #ranges(): Promise<Range[] | null> {
    const { urlsMax, rangeUrls } = this.limits;
    const ranges: Range[] = [];
    let [after, last, inRange, total]: [string | null, string | null, number, number] = [null, null, 0, 0];
    for (;;) {
      const urls = await listedUrlsAfter(this.store, this.scope, last, urlsPerRead);
      for (const url of urls) {
        if (inRange === rangeUrls) {
          ranges.push({ after, until: last });
          [after, inRange] = [last, 0];
        }
        last = url;
        inRange += 1;
      }
      total += urls.length;
      if (urls.length < urlsPerRead) break;
    }
    return total <= urlsMax ? null : [...ranges, { after, until: null }];
  }

  #index(ranges: readonly Range[]): string {
    const files = ranges.map(({ after, until }) => {
      const token = sealUrl(this.store.secret, this.#list, JSON.stringify([after, until]));
      return `<sitemap><loc>${escaped(`${this.site.origin}/sitemap.xml?continuationToken=${token}`)}</loc></sitemap>\n`;
    });
    return `${head}<sitemapindex ${namespace}>\n${files.join('')}</sitemapindex>\n`;
  }

  async #file({ after, until }: Range): Promise<string> {
    const entries: string[] = [];
    for (let last = after; entries.length < this.limits.urlsMax; ) {
      const urls = await listedUrlsAfter(this.store, this.scope, last, urlsPerRead);
      const end = until === null ? -1 : urls.findIndex((url) => isAfter(url, until));
      const inRange = end === -1 ? urls : urls.slice(0, end);
      for (const route of await routeEntries(this.store, this.scope, inRange)) {
        const loc = this.#locOf(route);
        if (loc !== null) entries.push(entryText(loc, route.updatedAtMs));
      }
      last = urls.at(-1) ?? last;
      if (end !== -1 || urls.length < urlsPerRead) break;
    }
    const listed = entries.slice(0, this.limits.urlsMax);
    return `${head}<urlset ${namespace}>\n${listed.join('')}</urlset>\n`;
  }

  /** Null for a redirect, and for a page on another host if the request has a `base`. */
  #locOf({ url, redirect }: RouteEntry): string | null {
    if (redirect !== null) return null;
    const [authority = ''] = /^https?:\/\/[^/?]+/i.exec(url) ?? [];
    if (authority !== '' && !URL.canParse(authority)) return null;
    const { origin, host } = new URL(authority === '' ? this.site.origin : authority);
    const isElsewhere = this.site.excludesOtherHosts && host !== new URL(this.site.origin).host;
    return isElsewhere ? null : origin + encodedPath(url.slice(authority.length));
  }

  #rangeOf(token: string): Range {
    const text = unsealUrl(this.store.secret, this.#list, token);
    if (text === null) throw new ProblemError(problems.continuationTokenInvalid);
    const [after, until]: [string | null, string | null] = JSON.parse(text);
    return { after, until };
  }
}

/** What a path or a query string cannot contain unencoded (RFC 3986), and a `%` that encodes nothing. */
const unencoded = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu;

/** Not resolved as by `URL`, which would give pages with `..`, `\\` or a blank at the end the URL of another page. */
function encodedPath(written: string): string {
  const path = written.startsWith('/') ? written : `/${written}`;
  return path.replace(unencoded, encodeURIComponent);
}

/** In code-point order, as routes are listed. */
function isAfter(url: string, other: string): boolean {
  return Buffer.compare(Buffer.from(url), Buffer.from(other)) > 0;
}

function entryText(loc: string, updatedAtMs: number): string {
  return `<url><loc>${escaped(loc)}</loc><lastmod>${new Date(updatedAtMs).toISOString()}</lastmod></url>\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll("'", '&apos;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
