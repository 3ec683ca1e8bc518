/**
 * The client's types are written by hand, because editors show them and the client imports nothing from the platform. Here
 * the compiler compares each type with the shape of the same object: a missing member or an incompatible type is a compile
 * error.
 */
import type * as client from '../../src/client/client.ts';
import type { ValueOf } from '../../src/contract/shape.ts';
import type { bulkEntityShape, simplifiedEntityShape } from '../../src/contract/shapes-ingest.ts';
import type * as query from '../../src/contract/shapes-query.ts';
import type { changesAnswerShape, metaShape, routesV2AnswerShape } from '../../src/contract/shapes-read.ts';

// biome-ignore lint/suspicious/noExplicitAny: items are untyped, as in the client itself.
type Item = any;

type SameNames<A, B> = [keyof A, keyof B] extends [keyof B, keyof A] ? true : false;
type Holds<T extends true> = T;

/** A request type of the client has the members that the platform accepts, with compatible types. */
type Sent<Ours extends Theirs, Theirs> = SameNames<Ours, Theirs>;
/** A response type of the client has the members that the platform returns, with compatible types. */
type Answered<Theirs extends Ours, Ours> = SameNames<Ours, Theirs>;

/** Leaves out `properties`, which a source can make optional. */
type WithoutProperties<T> = Omit<T, 'properties'>;
/** The client's union has every value that the platform accepts. */
type Known<Theirs, Ours> = [Theirs] extends [Ours] ? true : false;

type SearchShape = NonNullable<ValueOf<typeof query.searchShape>>;
type Answer = query.QueryAnswer;
type Route = ValueOf<typeof routesV2AnswerShape>['results'][number];
type Change = ValueOf<typeof changesAnswerShape>['changes'][number];
type Meta = ValueOf<typeof metaShape>;

export type Requests = [
  Holds<Sent<client.Query<Item>, ValueOf<typeof query.queryBodyShape>>>,
  Holds<Sent<client.Search<Item>, SearchShape>>,
  Holds<Sent<client.SearchField<Item>, ValueOf<typeof query.searchFieldShape>>>,
  Holds<Sent<client.Boost<Item>, ValueOf<typeof query.boostShape>>>,
  Holds<Sent<client.Highlight<Item>, NonNullable<ValueOf<typeof query.highlightShape>>>>,
  Holds<Sent<client.FacetRequest<Item>, ValueOf<typeof query.facetShape>>>,
  Holds<Sent<client.Sort<Item>, ValueOf<typeof query.sortKeyShape>>>,
  Holds<Sent<client.Degrees, NonNullable<ValueOf<typeof query.nearShape>>>>,
  Holds<Sent<client.Pagination, NonNullable<ValueOf<typeof query.paginationShape>>>>,
  Holds<Sent<client.Condition<Item>, ValueOf<typeof query.conditionShape>>>,
  Holds<Sent<WithoutProperties<client.Entity>, WithoutProperties<ValueOf<typeof simplifiedEntityShape>>>>,
  Holds<Sent<WithoutProperties<client.EntityWithId>, WithoutProperties<ValueOf<typeof bulkEntityShape>>>>,
];

export type Choices = [
  Holds<Known<ValueOf<typeof query.conditionShape>['operator'], client.Operator>>,
  Holds<Known<SearchShape['mode'], client.Search<Item>['mode']>>,
  Holds<Known<SearchShape['fuzziness'], client.Search<Item>['fuzziness']>>,
  Holds<Known<ValueOf<typeof query.facetShape>['interval'], client.FacetRequest<Item>['interval']>>,
  Holds<Known<ValueOf<typeof query.sortKeyShape>['order'], client.Sort<Item>['order']>>,
];

export type Answers = [
  Holds<Answered<Answer, client.QueryResult<Item>>>,
  Holds<Answered<Answer['facets'][number], client.Facet>>,
  Holds<Answered<Answer['facets'][number]['groups'][number], client.Facet['groups'][number]>>,
  Holds<Answered<Answer['results'][number], client.BuiltIn>>,
  Holds<Answered<Route, client.Route>>,
  Holds<Answered<Meta['missingViewReferences'][number], client.MissingReference>>,
  // The offset in the feed is not part of a change.
  Holds<Answered<Change, Omit<client.Change, 'offset'>>>,
];
