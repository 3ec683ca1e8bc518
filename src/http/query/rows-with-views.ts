/**
 * The result of a query with views: each row has `_views`, the views of its entity, and `_viewIds`, their ids
 * (docs/reference/indexes-and-queries.md "The query object"). The views of a row are cached like a page
 * (`cache/answer-cache.ts`), so a list only renders changed views and views that were not listed before.
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { formatViewId } from '../../contract/ids.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../../contract/limits.ts';
import type { QueryRow, RowsResult } from '../../query/query-service.ts';
import { resultText } from '../../query/result/result-text.ts';
import type { ViewTarget } from '../../store/derived/stored-body.ts';
import { subjectKey, viewSubject } from '../../store/derived/subjects.ts';
import { viewTarget } from '../../store/derived/views.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { AnswerKey, ComputedAnswer } from '../cache/answer-cache.ts';
import { RowViews } from '../cache/finished-answer.ts';
import { readInOrder } from '../delivery/read-in-order.ts';
import { plainReferences, Rendering } from '../delivery/render.ts';
import { LoadedViews, type ViewReader } from '../delivery/view-loading.ts';
import { scopeOf } from '../routes/route-parts.ts';
import type { Services } from '../services.ts';

const viewsName = Buffer.from(',"_views":');

type ViewServices = Pick<
  Services,
  'store' | 'largeAnswers' | 'cache' | 'rowViews' | 'referencedViews' | 'progress'
>;

/** A result as JSON text, and the subject keys of all views that it shows or misses. */
export interface TextWithViews {
  readonly text: Buffer;
  readonly subjects: readonly string[];
}

/**
 * JSON text of the result. References are resolved as in delivery.
 * @param fresh true to bypass the caches, which may be older than the requested version
 * @throws StoreUnavailableError; ProblemError 400 if the views of all rows exceed the limits of one answer of delivery
 */
export async function textWithViews(
  services: ViewServices,
  principal: ClientPrincipal,
  result: RowsResult,
  fresh: boolean,
): Promise<TextWithViews> {
  const { totalResults, rows, facets, nextPageToken } = result;
  try {
    const views = await viewsOfRows(services, principal, result, fresh);
    // A row is never `{}`, because it has its ids. So a comma before `_views` is always valid.
    const texts = rows.map(({ text }, at) => [text.subarray(0, -1), views[at]?.text ?? noText]);
    const subjects = views.flatMap((one) => one.subjects);
    return { text: resultText(totalResults, texts, { facets, nextPageToken }), subjects };
  } catch (error) {
    // Other errors are temporary, and not caused by the query.
    if (!(error instanceof ProblemError) || error.problem.status !== 422) throw error;
    throw new ProblemError(problems.queryInvalid([error.message]));
  }
}

const noText = Buffer.alloc(0);

async function viewsOfRows(
  services: ViewServices,
  principal: ClientPrincipal,
  { rows, aliases }: RowsResult,
  fresh: boolean,
): Promise<readonly RowViews[]> {
  const computeAll = async () =>
    (await computed(services, principal, { rows, aliases, fresh })).map(({ answer }) => answer);
  if (fresh) return await computeAll();
  const aliasText = JSON.stringify(aliases);
  const keys = rows.map(
    ({ sourceId, originId }): AnswerKey => ({
      kind: 'rowViews',
      principal,
      text: `${aliasText}${sourceId}/${originId}`,
    }),
  );
  const views = await services.rowViews.answersTo(keys, (missing) =>
    computed(services, principal, { rows: missing.flatMap((at) => rows[at] ?? []), aliases, fresh }),
  );
  // Rendering all rows together throws the error that names the exceeded limit.
  return isTooMuch(views) ? await computeAll() : views;
}

function isTooMuch(views: readonly RowViews[]): boolean {
  let [bytes, references] = [0, 0];
  for (const view of views) {
    bytes += view.bytes;
    references += view.references;
  }
  return bytes > deliveryBodyBytesMax || references > deliveryReferencesMax;
}

/** Renders rows from the store. The limits of an answer apply to all rows together. */
async function computed(
  services: ViewServices,
  principal: ClientPrincipal,
  asked: AskedRows,
): Promise<ComputedAnswer<RowViews>[]> {
  const reader = { principal, scope: scopeOf(principal), depth: principal.depth };
  const read = await readInOrder(services, async (sources) => {
    const views = new LoadedViews(asked.fresh ? { ...sources, referencedViews: null } : sources, reader);
    try {
      return await renderedRows(reader, views, asked);
    } finally {
      views.release();
    }
  });
  return read.rows.map((answer) => ({ answer, reads: () => answer.subjects }));
}

interface AskedRows {
  readonly rows: readonly QueryRow[];
  readonly aliases: readonly string[];
  /** True to bypass the cache of views. */
  readonly fresh: boolean;
}

interface RenderedRows {
  readonly rows: readonly RowViews[];
  readonly views: LoadedViews;
  places(): readonly HashField[];
}

async function renderedRows(
  { scope, depth }: ViewReader,
  views: LoadedViews,
  { rows, aliases }: AskedRows,
): Promise<RenderedRows> {
  const targets = rows.map(({ sourceId, originId }) =>
    aliases.map((alias) => viewTarget({ sourceId, originId, alias })),
  );
  await views.load(targets.flat());
  const renderer = new RowRenderer(scope, views, depth);
  return {
    rows: targets.map((ofRow) => renderer.row(ofRow)),
    views,
    places: () => views.places(),
  };
}

/** Renders one row after the other, within the limits of one answer. */
class RowRenderer {
  readonly #rendering: Rendering;
  /** Identity of each view that the current row has read -> key of its subject. */
  #read = new Map<string, string>();

  constructor(
    private readonly scope: EnvironmentScope,
    private readonly views: LoadedViews,
    depth: number | null,
  ) {
    const viewOf = (target: ViewTarget) => this.#get(target);
    this.#rendering = new Rendering(scope.environmentId, viewOf, plainReferences, depth);
  }

  row(targets: readonly ViewTarget[]): RowViews {
    const rendering = this.#rendering;
    this.#read = new Map();
    const [from, referencesBefore] = [rendering.pieces.length, rendering.references];
    const ids: string[] = [];
    targets.forEach((target, index) => {
      const view = this.#get(target);
      rendering.write(Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(target.alias)}:`));
      if (view === null) rendering.write(Buffer.from('null'));
      else {
        rendering.view(view, '');
        ids.push(formatViewId({ ...target, environmentId: this.scope.environmentId }));
      }
    });
    const tail = Buffer.from(`${targets.length === 0 ? '{}' : '}'},"_viewIds":${JSON.stringify(ids)}}`);
    const text = Buffer.concat([viewsName, ...rendering.pieces.slice(from), tail]);
    return new RowViews(text, rendering.references - referencesBefore, [...this.#read.values()]);
  }

  #get(target: ViewTarget) {
    if (!this.#read.has(target.identity)) {
      this.#read.set(target.identity, subjectKey(viewSubject(this.scope, target)));
    }
    return this.views.get(target);
  }
}
