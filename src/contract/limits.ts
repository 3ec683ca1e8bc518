/**
 * Every limit of the platform, named once. The end of a name says what is counted (`limit-list.ts` lists them so):
 * bytes, ms, seconds, characters (UTF-16 units), code points, else things. `Min` or `Max` stands behind it. What a setting
 * replaces has neither: it is a default (`front-limits.ts`, `src/config/settings/table.ts`). Each has its meaning on the line above it.
 */

/** Entities of one bulk save, and ids of one bulk delete. */
export const bulkEntitiesMax = 50;
/** Body of a bulk save. */
export const bulkBodyBytesMax = 209_715_200;
/** Body of a single save, and each entity of a bulk save. */
export const entityBytesMax = 5_242_880;
/** Nesting of a JSON value; `properties` itself is level 1. */
export const jsonDepthMax = 100;

/** A URL of an entity, of a view's route or of a request. */
export const urlCodePointsMax = 4096;
/** Ids and handles together in the body of one delivery request. */
export const deliveryKeysMax = 1000;
/** References that one delivery answer resolves. */
export const deliveryReferencesMax = 10_000;
/** URLs of one file of a sitemap. */
export const sitemapUrlsMax = 50_000;
/** URLs of each file of an index of sitemaps: fewer than a file may have, so that there is room for those that come. */
export const sitemapRangeUrls = 45_000;
/** Largest `depth` of a delivery request or of an environment client. */
export const deliveryDepthMax = 100;
/** One delivery answer. */
export const deliveryBodyBytesMax = 32 * 1024 * 1024;
/** Answers to the calls of tools in one request; calls behind more than that are refused. */
export const toolAnswersBytesMax = 32 * 1024 * 1024;
/** A smaller answer is never compressed. */
export const compressionBytesMin = 1024;
/** A larger view lies apart, so that a reader knows its size before it reads it. */
export const inlineViewBytesMax = 32 * 1024;
/** Views that an answer reads at a time. */
export const viewBatchBytesMax = 4 * 1024 * 1024;
/** An answer that needs more bytes of views than this takes turns with other such answers. */
export const freeAnswerBytesMax = 1024 * 1024;
/** Answers beyond `freeAnswerBytesMax` that a front makes at a time for one client. */
export const largeAnswersOfClientMax = 1;
/** Answers beyond `freeAnswerBytesMax` that a front makes at a time for all clients together. */
export const largeAnswersMax = 3;
/** Answers beyond `freeAnswerBytesMax` that may wait for one client; more are answered 503. */
export const largeAnswersWaitingMax = 32;

/** Claims that a view has given up and that its record keeps, for `left` of its changes. */
export const formerClaimsMax = 2000;
/** Changes of one answer of the feed. */
export const changesPageMax = 1000;
/** Changes that a follower of events reads at a time while it is behind. */
export const eventsPageMax = 200;
/** Places that a change names in `shownOn`. */
export const shownOnMax = 1000;
/** References that are followed for `shownOn` of one change. A page of changes ends where they followed so many together. */
export const shownReferencesMax = 100_000;
/** Pages of changes with `shownOn` that a front reads at a time for one tenant. */
export const expansionsOfTenantMax = 1;
/** Pages of changes with `shownOn` that a front reads at a time for all tenants together. */
export const expansionsMax = 3;
/** Pages of changes with `shownOn` that may wait for one tenant; more are answered 503. */
export const expansionsWaitingMax = 32;
/** How long a front tells again where a view is shown that has not changed since. */
export const shownOnKeptMs = 5_000;
/** UTF-16 units of the places that a front keeps so. */
export const shownOnKeptCharactersMax = 16 * 1024 * 1024;
/** How long a long-poll of the feed waits for a change. */
export const longPollMs = 30_000;
/** How often a follower of the feed hears that the connection lives. */
export const followerCommentMs = 15_000;
/** What a follower that does not read may have missed; beyond it the connection ends. */
export const followerUnsentBytesMax = 1024 * 1024;
/** Default of `CHANGES_RETENTION_DAYS`. */
export const changesRetentionDays = 30;
/** Largest `CHANGES_RETENTION_DAYS`. */
export const changesRetentionDaysMax = 3650;

/** Smallest `first` or `last` of a page of routes. */
export const routesPageMin = 100;
/** Largest `first` or `last` of a page of routes. */
export const routesPageMax = 500;

/** Queries of one multi-query. */
export const queriesPerRequestMax = 5;
/** Text of a search. */
export const searchCodePointsMax = 256;
/** Largest `fuzziness` of a search. */
export const searchFuzzinessMax = 2;
/** Largest weight of a searched field. */
export const searchWeightMax = 100;
/** Boosts of one search. */
export const searchBoostsMax = 3;
/** Largest weight of a boost. */
export const searchBoostWeightMax = 100;
/** Fields of one search. */
export const searchFieldsMax = 1000;
/** A mark before or behind a highlighted word. */
export const highlightMarkCharactersMax = 256;
/** Items of a query page when the query names no `pageSize`. */
export const pageSizeDefault = 10;
/** Largest `pageSize`. */
export const pageSizeMax = 1000;
/** Items that can be reached by page number; beyond it a query goes on with its token. */
export const offsetWindowMax = 10_000;
/** Groups of a facet when the query names no `size`. */
export const facetSizeDefault = 10;
/** Largest `size` of a facet. */
export const facetSizeMax = 100;

/** Entities that one `$lookup` gives. */
export const lookupResultsMax = 1000;

/** How long a request with `X-Service-Min-Version` waits before it is answered 503. */
export const minVersionWaitMs = 5_000;
/** Largest `X-Service-Wait` of a save or delete. */
export const visibilityWaitMsMax = 5_000;
/** Writes that wait on one front until they are visible; further ones are answered at once. */
export const visibilityWaitsMax = 1_000;
/** Writes of one tenant that wait on one front until they are visible; further ones are answered at once. */
export const visibilityWaitsOfTenantMax = 250;
/** How long an answer waits for the announcement of what it shows; then the front empties its cache instead. */
export const announcementWaitMs = 1_000;
/** A request head that is not whole by then ends the connection: a constant of the HTTP library. */
export const headTimeoutMs = 10_000;
/** A body of which nothing arrives for this long ends the request. */
export const bodyIdleTimeoutMs = 10_000;
/** Pieces of compressed bodies that one front unpacks at a time: as many as Node has helper threads. */
export const unpackingAtOnceMax = 4;
/** Bodies of delivery, queries and bulk deletes. */
export const smallBodyBytesMax = 1024 * 1024;

/** A configuration file beyond this is refused unread. */
export const configFileBytesMax = 4 * 1024 * 1024;
/** Nesting of a configuration file's JSON. */
export const configDepthMax = 200;
/** Folders inside one another between `schemas` and a file. */
export const schemaFolderDepthMax = 2;
/** Ids and aliases of the configuration, and names of folders below `schemas`. */
export const configNameCharactersMax = 100;
/** An API key. */
export const apiKeyCharactersMax = 512;
/** Findings of one kind (mistakes, warnings) that a check of a configuration lists. */
export const configurationFindingsMax = 1000;
/** Comparisons of entity types with others, when a configuration is checked for slips; beyond it there is no warning. */
export const typeComparisonsMax = 200_000;
/** Environments of one tenant. */
export const environmentsMax = 200;
/** Source groups of one tenant. */
export const sourceGroupsMax = 500;
/** Sources of one tenant. */
export const sourcesMax = 2000;
/** Domains of one tenant. */
export const domainsMax = 500;
/** Hostnames of all domains of one tenant. */
export const hostnamesMax = 5000;
/** Environment clients of one tenant. */
export const environmentClientsMax = 1000;
/** Management clients of one tenant. */
export const managementClientsMax = 200;
/** API keys of one client or source. */
export const apiKeysPerClientMax = 100;
/** Full schemas of one tenant. */
export const schemasMax = 5000;
/** Partial schemas of one tenant. */
export const partialsMax = 500;
/** Index schemas of one tenant. */
export const indexesMax = 500;
/** Entity types that the schemas and indexes of one tenant are triggered by, each counted for each schema and source group. */
export const triggersMax = 20_000;
/** Lookups in the schemas and indexes of one tenant, each counted for each source group that triggers its file. */
export const schemaLookupsMax = 100_000;
/** Lookups in the partials of one tenant. */
export const partialLookupsMax = 200;
/** Destinations of one schema. */
export const destinationsMax = 100;
/** An `Origin` header; a longer one is none that a client allows. */
export const originCharactersMax = 512;
/** The `cacheControl` of an environment client. */
export const cacheControlCharactersMax = 512;
/** The cache tags of one answer; beyond it wide tags stand for narrow ones. */
export const cacheTagsBytesMax = 8000;
/** Patterns in the `origins` of one environment client. */
export const originsPerClientMax = 100;
/** How long a browser may remember what a preflight allowed. */
export const preflightSeconds = 86_400;
/** Largest PARTITIONS. */
export const partitionsMax = 1024;
/** Fronts or partition workers that one `npm start` may be told to run. */
export const processesMax = 256;

/** Length of an originId and of an originParentId. */
export const originIdCodePointsMax = 1024;
/** Type of an entity. */
export const entityTypeCodePointsMax = 256;
/** Redirect URLs of one entity. */
export const redirectsMax = 1000;
/** A place inside typed properties, as mistakes tell it; a longer one is cut. */
export const typedPlaceCharactersMax = 300;
/** Mistakes told about one entity or one body; more of them say nothing new. */
export const mistakesListedMax = 20;
/** A request head beyond this is refused unread. */
export const headBytesMax = 256 * 1024;
/** Answers that one front holds for clients that have not read them; beyond it those above `smallAnswerBytesMax` are 503. */
export const unsentAnswersBytes = 256 * 1024 * 1024;
/** Part of what the live answers of other tenants leave of `ANSWERS_MB` that those of one tenant may take in a front. */
export const liveAnswersTenantShare = 0.5;
/** Answers up to this size are begun however many others wait for their clients. */
export const smallAnswerBytesMax = 64 * 1024;
/** A client that takes less of an answer in `slowReaderMs`, while more waits, is cut off. */
export const slowReaderBytesMin = 16 * 1024;
/** The time in which a client must take `slowReaderBytesMin` of an answer while more waits. */
export const slowReaderMs = 10_000;
/** One in so many answers without a body (HEAD, 304), by chance, ends its connection. */
export const bodilessAnswersPerConnection = 1000;
/** How long requests are answered in one turn of the event loop; further answers wait for the next turn. */
export const requestTurnMsMax = 50;
/** Long work goes on for so long at once, then lets other work of its process go first. */
export const sliceMs = 10;
/** Shards are loaded, changed and written for so long at once; then queries and leases go first. */
export const shardSliceMs = 8;
/** A query is worked on for so long at once, in a worker and in a front; then others go first. */
export const querySliceMs = 5;
/** Requests of a turn between two looks at the clock. */
export const requestsPerLook = 64;
/** Requests without a known key that one front takes from one address in a second. */
export const openRequestsPerSecond = 1000;
/** An address that was quiet may send the requests of so many seconds at once. */
export const openBurstSeconds = 5;
/** Addresses whose requests are counted at a time. */
export const countedAddressesMax = 10_000;
/** Request bodies that one front holds at a time; what arrives beyond it is answered 503. */
export const bodiesInFlightBytes = 512 * 1024 * 1024;
/** Fewest files that a front keeps free beside its connections. It keeps a tenth of what it may open, within bounds. */
export const filesReserveMin = 32;
/** Most files that a front keeps free beside its connections. */
export const filesReserveMax = 1_024;
/** Ingest bodies beyond this are parsed by another thread, so that no other request waits for it. */
export const inlineBodyBytesMax = 64 * 1024;
/** Stream entries of one tenant that may wait in one partition before its ingest is answered 503. */
export const ingestBacklogEntries = 10_000;
/** How long an ingest request waits for workers that are behind; then it is answered 503. */
export const ingestWaitMs = 10_000;
/** What `Retry-After` says, in seconds. */
export const retryAfterSeconds = 1;
/** How long requests may go on after SIGTERM. */
export const drainMs = 8_000;
/** A front that stops closes idle connections once nothing was asked for this long: a request may be on its way on each. */
export const lingerMs = 300;
/** How long after `drainMs` a process may take to end; then it ends as if it were killed. */
export const stopReserveMs = 1_500;
/** Indexes with fewer items in a worker have no snapshot: they are loaded as fast. */
export const snapshotItemsMin = 1_000;
/** A worker writes its index shards into files when nothing has changed for so long. */
export const snapshotQuietMs = 10_000;
/** Share of the items of an index that must have changed before its file is written again while its worker runs. */
export const snapshotChangedShare = 0.05;
/** Changes that it must be at least. */
export const snapshotChangesMin = 1_000;
/** Share of a worker's time in which it may write them. */
export const snapshotTimeShareMax = 0.05;
/** A file that no worker took over for so long is removed. */
export const snapshotKeptDays = 7;
/** A worker that is not heard of for this long loses its partitions. */
export const leaseMs = 5_000;
/** A process that is not heard of for this long counts as gone. */
export const heartbeatLostMs = 4_000;
/** A connection to Redis on which a reply is due and nothing comes for this long is replaced by another one. */
export const redisSilenceMs = 8_000;
/** The same of a connection of BullMQ, whose longest blocking read takes 10 s. */
export const jobsSilenceMs = 12_000;
/** How long a front waits for the metrics of the other processes; those that are late are left out. */
export const metricsWaitMs = 1_000;
/** A worker whose main thread has not turned for this long counts as dead, though another thread renews its leases. */
export const mainThreadStuckMs = 30_000;
/** Longest command of a front to Redis; then its request is answered 503. */
export const redisCommandTimeoutMs = 5_000;
/** How long a write to a cluster waits for a replica to have it; without one by then it is answered 503. */
export const replicaWaitMs = 1_000;
/** How long a front tries to get a complete answer of a query from the workers before it is answered 503. */
export const queryWaitMs = 3_000;
/** Largest SHARD_COPIES. */
export const shardCopiesMax = 16;
/** A worker of which nothing came for so long, while queries wait for it, is answered for by another one with a copy. */
export const workerSilentMs = 200;
/** A copy that lacks the commits that a query needs for so long leaves the query to another worker. */
export const copyBehindMs = 200;
/** Workers hold more than before only when another worker was away for so long. */
export const regroupMs = 60_000;
/** Rows of one query's page, or the sort values by which it was found, in UTF-16 units of JSON text. */
export const queryPageUnitsMax = 32 * 1024 * 1024;
/** Processor time that one query has in each worker before it is refused. */
export const queryCpuMs = 1_000;
/** Processor time of all queries of one request, in budgets of one query (`queryCpuMs`). */
export const queryBudgetsPerRequest = 2;
/** Rebuilds that a rebuild job may have waiting in a partition. */
export const rebuildsWaitingMax = 200;
/** Conditions in the filters of one query; `in` lists as many values as fit the body. */
export const filterConditionsMax = 1000;
/** Conditions with a `*` pattern among them: each looks at every distinct value of its field. */
export const filterPatternsMax = 100;
/** Facets of one query. */
export const facetsPerQueryMax = 100;
/** Names in the `fields` of one query. */
export const chosenFieldsMax = 1000;
/** Ranges of one facet. */
export const facetRangesMax = 100;
/** Groups of a facet by days, weeks, months or years: the latest are given. */
export const facetIntervalsMax = 1000;
/** Values that `distinct` finds for one query, each counted once and once more for each sort key up to the fourth. */
export const distinctCellsMax = 2 * 1024 * 1024;
/** Sort keys of one query. */
export const sortKeysMax = 100;
/** Fields of one auto-indexed entity type; properties met later are not indexed. */
export const autoFieldsMax = 1000;
/** Names in the path of a field of an auto-indexed entity type: `author.name` has two. */
export const autoPathNamesMax = 3;
/** Characters of such a path; members with a longer one are not indexed. */
export const autoPathCharactersMax = 256;
/** Auto-indexed entity types of one source and their fields, together: each takes memory in every worker. */
export const autoIndexedNamesMax = 20_000;

/** Largest of the settings RATE_LIMIT and OPEN_RATE_LIMIT, in requests a second. */
export const rateLimitMax = 1_000_000;
/** Largest INGEST_BACKLOG. */
export const ingestBacklogEntriesMax = 10_000_000;
/** Largest BODIES_MB. */
export const bodiesMebibytesMax = 65_536;
/** Largest ANSWERS_MB. */
export const answersMebibytesMax = 65_536;
/** Largest DELIVERY_CACHE_MB. */
export const deliveryCacheMebibytesMax = 65_536;
/** Finished answers of delivery and queries that a front keeps. */
export const deliveryCacheBytes = 128 * 1024 * 1024;
/** Longest of all waits that settings name. */
export const waitSecondsMax = 3_600;
/** Smallest QUERY_CPU_MS: two turns of a query. */
export const queryCpuMsMin = 10;
/** Largest QUERY_CPU_MS. */
export const queryCpuMsMax = 600_000;
/** Smallest LEASE_SECONDS: leases are renewed at 0.4 of their time, and Redis may be slow. */
export const leaseSecondsMin = 2;
/** Largest CONFIRM_REPLICAS. */
export const confirmReplicasMax = 16;
/** Prefixes of header names in HEADER_PREFIX. */
export const headerPrefixesMax = 16;
/** Length of one prefix in HEADER_PREFIX. */
export const headerPrefixCharactersMax = 64;

// One build. Operators write schemas, but strangers write the entities that they run over.

/** Elements mapped, partials entered, path nodes visited and pattern states tried in one build, together. */
export const buildStepsMax = 5_000_000;
/** Characters of one view's JSON, its references not counted; below what one delivery may carry. */
export const viewCharactersMax = 16 * 1024 * 1024;
/** Characters of one text that an expression puts together. */
export const textCharactersMax = 16 * 1024 * 1024;
/** Partials inside partials; a cycle ends here with null and a diagnostic. */
export const partialDepthMax = 32;
/** Different lookups of one build. */
export const lookupsPerBuildMax = 5_000;
/** Handles of one view; those beyond it find nothing. */
export const handlesPerViewMax = 2_000;
/** A handle; a longer one finds nothing. */
export const handleCodePointsMax = 4096;
/** URLs that a schema in JavaScript gives one view, and the redirects that lead to them, together. */
export const codeUrlsPerViewMax = 2_000;
/** JSON text of the options that a schema gives a destination; longer ones are left out. */
export const destinationOptionsCharactersMax = 256 * 1024;
/** Views that one entity's `actions` may name. */
export const actionsPerBuildMax = 1_000;
/** Different diagnostics of one build; more of them say nothing new. */
export const diagnosticsPerBuildMax = 100;

/** Processor time that the JavaScript of a preview takes to compile and to run once for its triggers. */
export const compilePreviewCpuMs = 2_000;
/** Processor time that all JavaScript of one tenant's configuration takes to compile and to run once for its triggers. */
export const compileConfigurationCpuMs = 10_000;
/** Memory that compiling one file takes, on Linux beyond what the compiler needs by itself. */
export const compilerMebibytesMax = 256;
/** Files of one tenant that wait for a compiler. */
export const compilesWaitingMax = 64;
/** How long a compiler that nothing is asked of is kept: its process takes some 110 MB. */
export const compilerIdleMs = 30_000;
/** Time in which a compiler has started: many times what a slow machine takes. */
export const compilerStartMs = 60_000;

/** Processor time of one build by a schema in JavaScript, with all its beginnings anew. */
export const codeBuildCpuMs = 1_000;
/** Processor time in which the process for schemas in JavaScript has begun: many times what a slow machine takes. */
export const codeStartCpuMs = 30_000;
/** Characters of a tenant's programs, each a schema in JavaScript with all that it imports; their process keeps as many open. */
export const codeProgramsCharactersMax = 8 * 1024 * 1024;
/** Memory that a build by a schema in JavaScript has. It ends where `codeHeapMebibytes` does: beside few programs at some 115. */
export const codeMemoryMebibytes = 64;
/** How long an entity whose build took too much time or memory is not built again by that schema, unless it changes. */
export const codeBreakerOpenMs = 3_000;
/** How long a batch waits for the next reply of a schema in JavaScript. What is not answered by then is built later; the rest of the batch is stored. A view that changes each time before it is built is waited for longer: for up to two builds, and a tenth of a partition's time. */
export const codePatienceMs = 100;
/** How long a batch looks up entities, and how long it waits for schemas in JavaScript while replies come. Views that would take longer are built later, when it is their tenant's turn. */
export const batchWaitMs = 400;
/** Builds by schemas in JavaScript that a partition has under way for one tenant while others of its builds wait. */
export const codeOpenBuildsMax = 200;
/** Characters that such builds of all partitions of a worker are given and have made. Beyond that, builds of the tenant that has the most begin again later. A build alone always has room. */
export const codeOpenCharactersMax = 64 * 1024 * 1024;
/** Processes for schemas in JavaScript that a worker keeps alive, one a tenant. */
export const codeProcessesMax = 8;
/** How many of them run something at a time. */
export const codeRunningMax = 2;
/** After so long without work such a process ends. */
export const codeIdleMs = 60_000;
/** Heap of the process in which schemas in JavaScript run: one build, and as much again for Node, the programs, and what V8 needs to collect in time. */
export const codeHeapMebibytes = 2 * codeMemoryMebibytes;
/** All memory of that process, on Linux: `Intl` takes some beside the heap. Builds that harm nobody were seen to reach half of it, until V8 collects. */
export const codeResidentMebibytes = 8 * codeHeapMebibytes;
/** Kinds of lookups that the schemas of a tenant may ask for without writing them out; others are never answered. */
export const askedLookupsMax = 200;
/** Of so many, a new configuration keeps those that were asked for under the one before it. */
export const askedLookupsKeptMax = 100;
/** Lookups of one build by a schema in JavaScript that each wait for the one before. */
export const codeLookupRoundsMax = 200;
/** Characters of what the lookups of one build by a schema in JavaScript give. */
export const codeAnswersCharactersMax = 32 * 1024 * 1024;

/** Levels of a schema file's JSON below its root at which a property may still be defined. */
export const definitionDepthMax = 64;
/** Entries of the synonyms of an index. */
export const synonymEntriesMax = 1000;
/** Texts of one entry of synonyms. */
export const synonymTextsMax = 20;
/** Characters of a text field that count as letters. */
export const keptCharactersMax = 10;
/** Characters of one expression, path or filter. */
export const languageTextCharactersMax = 100_000;

/** Values of one entity under one lookup index; an entity with more stands under the index's overflow key. */
export const lookupValuesPerIndexMax = 1_000;
/** Value keys of one lookup; a longer list reads all entities of the type. */
export const lookupKeysMax = 1_000;
/** A key of a lookup index; a longer one is replaced by its digest. */
export const lookupKeyCharactersMax = 160;
/** States of one compiled pattern of `match` or `search`. */
export const patternStatesMax = 5_000;
/** Dots, brackets and operators of one path: the segments and conditions that it may have. */
export const pathMarksMax = 500;
/** Brackets inside brackets of one path. */
export const pathNestingMax = 64;

/** Webhooks of one tenant. */
export const webhooksPerTenantMax = 100;
/** Changes in one request to a webhook. */
export const webhookBatchSizeMax = 100;
/** Longest time for which a webhook gathers changes. */
export const webhookBatchSecondsMax = 60;
/** Headers of its own that a webhook has. */
export const webhookHeadersMax = 20;
/** Characters of a webhook's URL. */
export const webhookUrlCharactersMax = 2_000;
/** Time that a webhook's receiver has to answer. */
export const webhookAnswerMs = 10_000;
/** Wait before a webhook is tried again for the first time; doubled each time. */
export const webhookRetryFirstMs = 5_000;
/** Longest such wait. */
export const webhookRetryMaxMs = 3_600_000;
/** Longest `Retry-After` that a webhook waits for. */
export const webhookRetryAfterMaxMs = 86_400_000;
/** Share of such a wait that chance adds to it. */
export const webhookRetryJitter = 0.2;

/** Claims on one URL that an explanation of it looks at. */
export const explainedClaimsMax = 1000;
/** Claims on one URL that an explanation of it lists. */
export const listedClaimsMax = 100;
/** All documents of a tenant in one request. */
export const configurationBodyBytesMax = 16 * 1024 * 1024;
/** Processor time of the check of one configuration in a front. */
export const configurationCpuMs = 5_000;
/** Share of a front's time that the check of one configuration may take. */
export const configurationTimeShare = 0.25;
/** Configurations, of as many tenants, that a front checks at a time. */
export const configurationsAtOnceMax = 4;
/** Dry runs of one tenant that wait or are under way. */
export const dryRunsPendingMax = 5;
/** Mistakes of a configuration that an answer lists. */
export const configurationMistakesMax = 500;
/** How long a tenant may ask for a rebuild whose id it was given. */
export const jobKnownSeconds = 604_800;
/** The schema and the entity of a preview. */
export const previewBodyBytesMax = 8 * 1024 * 1024;
/** Entities that the lookups of a preview go through where no lookup index has what they ask for. */
export const previewEntitiesMax = 250_000;
/** How long the lookups of a preview may go through entities. */
export const previewMs = 20_000;
/** Calls of one tenant's managers to a costly endpoint that may wait for their turn at a front; more are answered 503. */
export const costlyCallsWaitingMax = 32;
/** Samples of views that come, of those that change, and of those that go, in a dry run. */
export const dryRunSamplesMax = 20;
/** All samples of a dry run; views that do not fit are no samples. */
export const dryRunSampleCharactersMax = 1024 * 1024;
/** Entities that a dry run copies for lookups that no lookup index answers yet. */
export const dryRunCopiedEntitiesMax = 500_000;
/** Usual page of a list of the management interface. */
export const managementPageDefault = 100;
/** Largest page of a list of the management interface. */
export const managementPageMax = 500;
/** Entities that a list with a state goes through for one page. */
export const managementEntitiesReadMax = 5000;
/** Scheduled entities that an explanation of a URL or a view looks at. */
export const scheduledExplainedMax = 500;
/** Entities that one page of diagnostics looks at. */
export const diagnosedEntitiesMax = 2000;
/** After this a page of diagnostics ends, with what it has found. */
export const diagnosedMsMax = 1000;
/** Views that an explanation lists of those that show a view or look it up. */
export const dependentsListedMax = 100;
/** Views that an explanation builds to see whether their lookups match; others are counted as if they did. */
export const dependentsExplainedMax = 200;
/** Views that an explanation counts of those that show a view or look it up. */
export const referrersCountedMax = 10_000;
