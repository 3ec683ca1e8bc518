/**
 * The client's types are written by hand, because they are read in editors and the client imports nothing of the platform.
 * Here the compiler compares each with the shape of the same object: a member that one of them lacks, or a type that one of
 * them does not allow, is an error of `tsc`.
 */
import type * as client from '../../src/client/client.ts';
import type { ValueOf } from '../../src/contract/shape.ts';
import type { bulkEntityShape, simplifiedEntityShape } from '../../src/contract/shapes-ingest.ts';
import type * as query from '../../src/contract/shapes-query.ts';
import type { changesAnswerShape, metaShape, routesV2AnswerShape } from '../../src/contract/shapes-read.ts';

// biome-ignore lint/suspicious/noExplicitAny: an item of which nothing is known, as in the client itself.
type Item = any;

type SameNames<A, B> = [keyof A, keyof B] extends [keyof B, keyof A] ? true : false;
type Holds<T extends true> = T;

/** What the client lets a caller send is what the platform takes, with all of its members. */
type Sent<Ours extends Theirs, Theirs> = SameNames<Ours, Theirs>;
/** What the platform answers is what the client says, with all of its members. */
type Answered<Theirs extends Ours, Ours> = SameNames<Ours, Theirs>;

/** A source can make them optional. */
type WithoutProperties<T> = Omit<T, 'properties'>;
/** The client knows every value that the platform takes. */
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
  // The place in the feed comes beside a change.
  Holds<Answered<Change, Omit<client.Change, 'offset'>>>,
];
