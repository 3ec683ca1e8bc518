/**
 * Every limit of the platform, named once. The end of a name says what is counted (the reference lists them so):
 * bytes, ms, seconds, characters (UTF-16 units), code points, otherwise things. `Min` or `Max` follows. A default that a setting
 * replaces has neither (`front-limits.ts`, `src/config/settings/table.ts`). Each has its meaning on the line above it.
 */

/** Entities of one bulk save, and ids of one bulk delete. */
export const bulkEntitiesMax = 50;
/** Body of a bulk save. */
export const bulkBodyBytesMax = 209_715_200;
/** Body of a single save, and each entity of a bulk save. */
export const entityBytesMax = 5_242_880;
/** Nesting depth of a JSON value; `properties` itself is level 1. */
export const jsonDepthMax = 100;

/** A URL of an entity, of a view's route or of a request. */
export const urlCodePointsMax = 4096;
/** Ids and handles in the body of one delivery request, together. */
export const deliveryKeysMax = 1000;
/** References that one delivery response resolves. */
export const deliveryReferencesMax = 10_000;
/** URLs in one sitemap file. */
export const sitemapUrlsMax = 50_000;
/** URLs in each file of a sitemap index: fewer than a file can have, to leave space for new ones. */
export const sitemapRangeUrls = 45_000;
/** Largest `depth` of a delivery request or of an environment client. */
export const deliveryDepthMax = 100;
/** Size of one delivery response. */
export const deliveryBodyBytesMax = 32 * 1024 * 1024;
/** Results of all tool calls in one request; once they exceed this, the remaining calls are rejected. */
export const toolAnswersBytesMax = 32 * 1024 * 1024;
/** A smaller response is never compressed. */
export const compressionBytesMin = 1024;
/** A larger view is stored separately, so that its size is known before it is read. */
export const inlineViewBytesMax = 32 * 1024;
/** Views that one response reads at a time. */
export const viewBatchBytesMax = 4 * 1024 * 1024;
/** A response that needs more bytes of views than this takes turns with other such responses. */
export const freeAnswerBytesMax = 1024 * 1024;
/** Responses over `freeAnswerBytesMax` that a front builds at a time for one client. */
export const largeAnswersOfClientMax = 1;
/** Responses over `freeAnswerBytesMax` that a front builds at a time for all clients together. */
export const largeAnswersMax = 3;
/** Responses over `freeAnswerBytesMax` that can wait for one client; further requests get a 503. */
export const largeAnswersWaitingMax = 32;

/** Former claims of a view that its record keeps, for `left` in its changes. */
export const formerClaimsMax = 2000;
/** Changes in one response of the feed. */
export const changesPageMax = 1000;
/** Changes that an event stream reads at a time while it is behind. */
export const eventsPageMax = 200;
/** URLs and handles that a change lists in `shownOn`. */
export const shownOnMax = 1000;
/** References that are followed for `shownOn` of one change. A page of changes ends when its changes together have followed this many. */
export const shownReferencesMax = 100_000;
/** Pages of changes with `shownOn` that a front computes at a time for one tenant. */
export const expansionsOfTenantMax = 1;
/** Pages of changes with `shownOn` that a front computes at a time for all tenants together. */
export const expansionsMax = 3;
/** Pages of changes with `shownOn` that can wait for one tenant; further requests get a 503. */
export const expansionsWaitingMax = 32;
/** How long a front caches the `shownOn` of an unchanged view. */
export const shownOnKeptMs = 5_000;
/** Size of that cache. */
export const shownOnKeptCharactersMax = 16 * 1024 * 1024;
/** How long a long poll of the feed waits for a change. */
export const longPollMs = 30_000;
/** How often an event stream sends a comment to keep its connection alive. */
export const followerCommentMs = 15_000;
/** Unread bytes of a client of an event stream; beyond this it is disconnected. */
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
/** The `value` of a search. */
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
/** A mark before or after a highlighted word. */
export const highlightMarkCodePointsMax = 256;
/** Items per query page if the query has no `pageSize`. */
export const pageSizeDefault = 10;
/** Largest `pageSize`. */
export const pageSizeMax = 1000;
/** Items that can be reached by page number; beyond this, use the token. */
export const offsetWindowMax = 10_000;
/** Groups of a facet if the query has no `size`. */
export const facetSizeDefault = 10;
/** Largest `size` of a facet. */
export const facetSizeMax = 100;

/** Entities that one `$lookup` returns. */
export const lookupResultsMax = 1000;

/** How long a request with `X-Service-Min-Version` waits before it gets a 503. */
export const minVersionWaitMs = 5_000;
/** Largest `X-Service-Wait` of a save or delete. */
export const visibilityWaitMsMax = 5_000;
/** Writes that can wait on one front until they are visible; others are answered immediately. */
export const visibilityWaitsMax = 1_000;
/** Writes of one tenant that can wait on one front until they are visible; others are answered immediately. */
export const visibilityWaitsOfTenantMax = 250;
/** How long a response waits for the announcement of the changes that it shows; then the front clears its cache instead. */
export const announcementWaitMs = 1_000;
/** If a request head is not complete by then, the connection is closed: a constant of the HTTP library. */
export const headTimeoutMs = 10_000;
/** If nothing of a body arrives for this long, the request ends. */
export const bodyIdleTimeoutMs = 10_000;
/** Chunks of compressed bodies that one front decompresses at a time: the size of Node's thread pool. */
export const unpackingAtOnceMax = 4;
/** Bodies of delivery, queries and bulk deletes. */
export const smallBodyBytesMax = 1024 * 1024;

/** A larger configuration file is rejected without reading it. */
export const configFileBytesMax = 4 * 1024 * 1024;
/** Nesting depth of the JSON in a configuration file. */
export const configDepthMax = 200;
/** Levels of folders between `schemas` and a file. */
export const schemaFolderDepthMax = 2;
/** Ids and aliases in the configuration, and names of folders below `schemas`. */
export const configNameCharactersMax = 100;
/** An API key. */
export const apiKeyCharactersMax = 512;
/** Findings of one kind (errors, warnings) that a check of a configuration lists. */
export const configurationFindingsMax = 1000;
/** Comparisons between entity types to find typos when a configuration is checked; beyond this there is no warning. */
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
/** Entity types that trigger the schemas and indexes of one tenant, counted once per schema and source group. */
export const triggersMax = 20_000;
/** Lookups in the schemas and indexes of one tenant, counted once per source group that triggers the file. */
export const schemaLookupsMax = 100_000;
/** Lookups in the partials of one tenant. */
export const partialLookupsMax = 200;
/** Destinations of one schema. */
export const destinationsMax = 100;
/** An `Origin` header; a longer one is never allowed. */
export const originCharactersMax = 512;
/** The `cacheControl` of an environment client. */
export const cacheControlCharactersMax = 512;
/** The cache tags of one response; beyond this, general tags replace specific ones. */
export const cacheTagsBytesMax = 8000;
/** Patterns in the `origins` of one environment client. */
export const originsPerClientMax = 100;
/** How long a browser can cache a preflight response. */
export const preflightSeconds = 86_400;
/** Largest PARTITIONS. */
export const partitionsMax = 1024;
/** Fronts or partition workers that one `npm start` can run. */
export const processesMax = 256;

/** Length of an originId and of an originParentId. */
export const originIdCodePointsMax = 1024;
/** Type of an entity. */
export const entityTypeCodePointsMax = 256;
/** Redirect URLs of one entity. */
export const redirectsMax = 1000;
/** A place inside typed properties, as errors show it; a longer one is truncated. */
export const typedPlaceCharactersMax = 300;
/** Errors listed for one entity or one body. */
export const errorsListedMax = 20;
/** A larger request head is rejected without reading it. */
export const headBytesMax = 256 * 1024;
/** Responses that one front holds for clients that have not read them; beyond this, responses over `smallAnswerBytesMax` are 503. */
export const unsentAnswersBytes = 256 * 1024 * 1024;
/** The live answers of one tenant can use this share of what those of other tenants leave of `ANSWERS_MB` in a front. */
export const liveAnswersTenantShare = 0.5;
/** Responses up to this size are started however many others wait for their clients. */
export const smallAnswerBytesMax = 64 * 1024;
/** A client that reads less than this in `slowReaderMs`, while more is waiting, is disconnected. */
export const slowReaderBytesMin = 16 * 1024;
/** The time in which a client must read `slowReaderBytesMin` while more is waiting. */
export const slowReaderMs = 10_000;
/** One in this many responses without a body (HEAD, 304), at random, closes its connection. */
export const bodilessAnswersPerConnection = 1000;
/** How long requests are answered in one turn of the event loop; others wait for the next turn. */
export const requestTurnMsMax = 50;
/** Long work runs for this long without a break, then yields to other work of its process. */
export const sliceMs = 10;
/** Shards are loaded, changed and written for this long without a break; then queries and leases go first. */
export const shardSliceMs = 8;
/** A query runs for this long without a break, in a worker and in a front; then others go first. */
export const querySliceMs = 5;
/** Requests in one turn between two checks of the clock. */
export const requestsPerClockCheck = 64;
/** Requests without a known key that one front accepts from one address per second. */
export const openRequestsPerSecond = 1000;
/** Burst of an address that was idle: the requests of this many seconds. */
export const openBurstSeconds = 5;
/** Addresses whose requests are counted simultaneously. */
export const countedAddressesMax = 10_000;
/** Request bodies that one front holds at a time; beyond this, requests get a 503. */
export const bodiesInFlightBytes = 512 * 1024 * 1024;
/** Minimum of file descriptors that a front keeps free from connections. It keeps a tenth of its limit, within these bounds. */
export const filesReserveMin = 32;
/** Maximum of file descriptors that a front keeps free from connections. */
export const filesReserveMax = 1_024;
/** Larger ingest bodies are parsed by another thread, so that no other request waits for it. */
export const inlineBodyBytesMax = 64 * 1024;
/** Stream entries of one tenant that can wait in one partition before its ingest gets a 503. */
export const ingestBacklogEntries = 10_000;
/** How long an ingest request waits for workers that are behind; then it gets a 503. */
export const ingestWaitMs = 10_000;
/** The value of `Retry-After`. */
export const retryAfterSeconds = 1;
/** How long requests can continue after SIGTERM. */
export const drainMs = 8_000;
/** A front that is stopping closes idle connections when no request has arrived for this long, because one may be in transit. */
export const lingerMs = 300;
/** How long after `drainMs` a process can take to end; then it exits as if it were killed. */
export const stopReserveMs = 1_500;
/** Indexes with fewer items in a worker have no snapshot: loading them from Redis is as fast. */
export const snapshotItemsMin = 1_000;
/** A worker writes snapshots of its index shards when nothing has changed for this long. */
export const snapshotQuietMs = 10_000;
/** Share of the items of an index that must have changed before its snapshot is written again while the worker runs. */
export const snapshotChangedShare = 0.05;
/** Minimum number of such changes. */
export const snapshotChangesMin = 1_000;
/** Share of a worker's time that it can spend on writing snapshots. */
export const snapshotTimeShareMax = 0.05;
/** A snapshot that no worker has loaded for this long is deleted. */
export const snapshotKeptDays = 7;
/** A worker that does not renew its leases for this long loses its partitions. */
export const leaseMs = 5_000;
/** A process that sends no heartbeat for this long counts as stopped. */
export const heartbeatLostMs = 4_000;
/** A connection to Redis that is silent for this long while a reply is due is replaced. */
export const redisSilenceMs = 8_000;
/** The same for connections of BullMQ, whose longest blocking read takes 10 s. */
export const jobsSilenceMs = 12_000;
/** How long a front waits for the metrics of the other processes; late ones are left out. */
export const metricsWaitMs = 1_000;
/** A worker whose event loop is blocked for this long counts as dead, although another thread renews its leases. */
export const mainThreadStuckMs = 30_000;
/** Timeout for a command of a front to Redis; then its request gets a 503. */
export const redisCommandTimeoutMs = 5_000;
/** How long a write waits for a replica to have it; then it gets a 503. */
export const replicaWaitMs = 1_000;
/** A replica that confirms nothing for longer does not count as connected. It confirms each second. */
export const replicaSilentSeconds = 5;
/** How long a front tries to get a complete result of a query from the workers before the query gets a 503. */
export const queryWaitMs = 3_000;
/** How long a front and a worker have to prove to each other that they belong to the same store. */
export const queryHandshakeMs = 5_000;
/** Connections to a worker that have not proven it yet; beyond this, the oldest is closed. */
export const queryHandshakesMax = 64;
/** Largest message between a front and a worker. */
export const queryMessageBytesMax = 512 * 1024 * 1024;
/** Bytes that a front or a worker holds for the other before it sends nothing more to it; the last message can exceed this. */
export const queryUnsentBytesMax = 64 * 1024 * 1024;
/** Largest SHARD_COPIES. */
export const shardCopiesMax = 16;
/** If a worker is silent for this long while queries wait for it, another one with a copy responds instead. */
export const workerSilentMs = 200;
/** If a copy lacks the commits that a query needs for this long, another worker responds instead. */
export const copyBehindMs = 200;
/** Workers take over additional groups only if another worker is missing for this long. */
export const regroupMs = 60_000;
/** Rows of one query page, or its sort values, as JSON. */
export const queryPageUnitsMax = 32 * 1024 * 1024;
/** Processor time of one query in each worker; beyond this it is rejected. */
export const queryCpuMs = 1_000;
/** Processor time of all queries of one request, as a multiple of `queryCpuMs`. */
export const queryBudgetsPerRequest = 2;
/** Rebuilds of a rebuild job that can wait in a partition. */
export const rebuildsWaitingMax = 200;
/** Conditions in the filters of one query; `in` can list as many values as fit into the body. */
export const filterConditionsMax = 1000;
/** Conditions with a `*` pattern among them: each checks every distinct value of its field. */
export const filterPatternsMax = 100;
/** Facets of one query. */
export const facetsPerQueryMax = 100;
/** Field names in `fields` of one query. */
export const chosenFieldsMax = 1000;
/** Ranges of one facet. */
export const facetRangesMax = 100;
/** Groups of a facet with an `interval`: the latest are returned. */
export const facetIntervalsMax = 1000;
/** Values that `distinct` compares for one query, each counted once, and once more for each sort key up to the fourth. */
export const distinctCellsMax = 2 * 1024 * 1024;
/** Items that a worker sends with its statistics of a search, for the front to score. If it finds more, the front asks again. */
export const unscoredItemsMax = 64;
/** Integers from which the scores of these items are computed. */
export const unscoredFrequenciesMax = 8_192;
/** JSON of these items. */
export const unscoredBytesMax = 64 * 1024;
/** Searches of which an index in a worker keeps the matching terms between the statistics and the items. */
export const pendingSearchesMax = 32;
/** Words of such a search, each once for each field. The words of a search with more are looked up twice. */
export const pendingSearchWordsMax = 32;
/** Matching terms of such a search. The terms of a search with more are looked up twice. */
export const pendingSearchTermsMax = 1_024;
/** Sort keys of one query. */
export const sortKeysMax = 100;
/** Fields of one auto-indexed entity type; later properties are not indexed. */
export const autoFieldsMax = 1000;
/** Names in the path of a field of an auto-indexed entity type: `author.name` has two. */
export const autoPathNamesMax = 3;
/** Length of such a path; members with a longer one are not indexed. */
export const autoPathCharactersMax = 256;
/** Auto-indexed entity types of one source and their fields, together: each uses memory in every worker. */
export const autoIndexedNamesMax = 20_000;

/** Largest RATE_LIMIT and OPEN_RATE_LIMIT, in requests per second. */
export const rateLimitMax = 1_000_000;
/** Largest INGEST_BACKLOG. */
export const ingestBacklogEntriesMax = 10_000_000;
/** Largest BODIES_MB. */
export const bodiesMebibytesMax = 65_536;
/** Largest ANSWERS_MB. */
export const answersMebibytesMax = 65_536;
/** Largest DELIVERY_CACHE_MB. */
export const deliveryCacheMebibytesMax = 65_536;
/** Responses of delivery and queries that a front caches. */
export const deliveryCacheBytes = 128 * 1024 * 1024;
/** Part of that cache for the views of listed rows. */
export const rowViewsShare = 1 / 4;
/** Part of that cache for views that others refer to. */
export const referencedViewsShare = 1 / 8;
/** Largest value of settings in seconds. */
export const waitSecondsMax = 3_600;
/** Smallest QUERY_CPU_MS: two turns of a query. */
export const queryCpuMsMin = 10;
/** Largest QUERY_CPU_MS. */
export const queryCpuMsMax = 600_000;
/** Smallest LEASE_SECONDS: leases are renewed at 0.4 of their duration, and Redis can be slow. */
export const leaseSecondsMin = 2;
/** Largest CONFIRM_REPLICAS. */
export const confirmReplicasMax = 16;
/** Prefixes of header names in HEADER_PREFIX. */
export const headerPrefixesMax = 16;
/** Length of one prefix in HEADER_PREFIX. */
export const headerPrefixCharactersMax = 64;

// One build. Operators write schemas, but strangers write the entities that they run over.

/** Elements mapped, partials called, path nodes visited, pattern states made, tried and reached in one build, together. */
export const buildStepsMax = 5_000_000;
/** JSON of one view, without its references; less than one delivery response can contain. */
export const viewCharactersMax = 16 * 1024 * 1024;
/** A string that an expression concatenates. */
export const textCharactersMax = 16 * 1024 * 1024;
/** Nesting depth of partials; a cycle ends here with null and a diagnostic. */
export const partialDepthMax = 32;
/** Different lookups of one build. */
export const lookupsPerBuildMax = 5_000;
/** Handles of one view; further ones are ignored. */
export const handlesPerViewMax = 2_000;
/** A handle; a longer one is ignored. */
export const handleCodePointsMax = 4096;
/** URLs that a schema in JavaScript gives one view, and their redirects, together. */
export const codeUrlsPerViewMax = 2_000;
/** JSON of the options that a schema gives a destination; longer ones are left out. */
export const destinationOptionsCharactersMax = 256 * 1024;
/** Views that the `actions` of one entity can name. */
export const actionsPerBuildMax = 1_000;
/** Different diagnostics of one build; further ones are dropped. */
export const diagnosticsPerBuildMax = 100;

/** Processor time to compile the JavaScript of a preview and to run it once for its triggers. */
export const compilePreviewCpuMs = 2_000;
/** Processor time to compile all JavaScript of a tenant's configuration and to run it once for its triggers. */
export const compileConfigurationCpuMs = 10_000;
/** Memory for compiling one file; on Linux in addition to what the compiler itself needs. */
export const compilerMebibytesMax = 256;
/** Files of one tenant that can wait for a compiler. */
export const compilesWaitingMax = 64;
/** How long an idle compiler is kept: its process uses about 110 MB. */
export const compilerIdleMs = 30_000;
/** Timeout for the start of a compiler: many times what a slow machine needs. */
export const compilerStartMs = 60_000;

/** Processor time of one build by a schema in JavaScript, including all its restarts. */
export const codeBuildCpuMs = 1_000;
/** Processor time for the start of the process for schemas in JavaScript: many times what a slow machine needs. */
export const codeStartCpuMs = 30_000;
/** A tenant's programs together, each a schema in JavaScript with all its imports; their process keeps that much loaded. */
export const codeProgramsCharactersMax = 8 * 1024 * 1024;
/** Memory that every build by a schema in JavaScript can use. A build fails when the heap of its process is full (`codeHeapMebibytes`): with few programs, at about 115 MiB. */
export const codeMemoryMebibytes = 64;
/** If a build takes too much time or memory, how long that schema does not build the entity again, unless it changes. */
export const codeBreakerOpenMs = 3_000;
/** How long a batch waits for the next reply of a schema in JavaScript. Without a reply by then, the build is deferred and the rest of the batch is stored. For a view that changes each time before it is built, the wait is longer: up to two builds, and a tenth of a partition's time. */
export const codePatienceMs = 100;
/** How long a batch looks up entities, and how long it waits for schemas in JavaScript while replies come. Views that would take longer are deferred until their tenant's turn. */
export const batchWaitMs = 400;
/** How long a batch of deferred views waits for schemas in JavaScript. Without a reply by then, a view keeps its place in the queue. */
export const deferredWaitMs = 20;
/** Builds by schemas in JavaScript that a partition runs simultaneously for one tenant while other builds wait. */
export const codeOpenBuildsMax = 200;
/** Input and output of such builds in all partitions of a worker, together. Beyond that, builds of the tenant with the most start again later. A single build is always allowed. */
export const codeOpenCharactersMax = 64 * 1024 * 1024;
/** Processes for schemas in JavaScript that a worker keeps alive, one a tenant. */
export const codeProcessesMax = 8;
/** How many of them run simultaneously. */
export const codeRunningMax = 2;
/** After this long without work, such a process ends. */
export const codeIdleMs = 60_000;
/** Heap of the process that runs schemas in JavaScript: one build, and as much again for Node, the programs, and what V8 needs for garbage collection. */
export const codeHeapMebibytes = 2 * codeMemoryMebibytes;
/** Total memory of that process on Linux: `Intl` uses some outside the heap. Harmless builds were seen to reach half of it before V8 collects. */
export const codeResidentMebibytes = 8 * codeHeapMebibytes;
/** Kinds of lookups that the schemas of a tenant can compute at run time, not written out in the schema; others are never answered. */
export const runtimeLookupsMax = 200;
/** A new configuration keeps this many of them that were used under the previous one. */
export const runtimeLookupsKeptMax = 100;
/** Lookups of one build by a schema in JavaScript that each wait for the one before. */
export const codeLookupRoundsMax = 200;
/** Results of all lookups of one build by a schema in JavaScript. */
export const codeAnswersCharactersMax = 32 * 1024 * 1024;

/** Levels below the root of a schema file at which a property can be defined. */
export const definitionDepthMax = 64;
/** Entries of the synonyms of an index. */
export const synonymEntriesMax = 1000;
/** Strings in one entry of the synonyms. */
export const synonymTextsMax = 20;
/** Characters in `keep` of a text field. */
export const keptCharactersMax = 10;
/** Length of one expression, path or filter. */
export const languageTextCharactersMax = 100_000;

/** Values of one entity in one lookup index; an entity with more is stored under the overflow key of the index. */
export const lookupValuesPerIndexMax = 1_000;
/** Value keys of one lookup; with more, all entities of the type are read. */
export const lookupKeysMax = 1_000;
/** A key of a lookup index; a longer one is stored as its digest. */
export const lookupKeyCharactersMax = 160;
/** States of one compiled pattern of `match` or `search`. */
export const patternStatesMax = 5_000;
/** Dots, brackets and operators of one path, which limit its segments and conditions. */
export const pathMarksMax = 500;
/** Nesting depth of brackets in one path. */
export const pathNestingMax = 64;

/** Webhooks of one tenant. */
export const webhooksPerTenantMax = 100;
/** Changes in one request to a webhook. */
export const webhookBatchSizeMax = 100;
/** Longest time for which a webhook collects changes. */
export const webhookBatchSecondsMax = 60;
/** Additional headers of a webhook. */
export const webhookHeadersMax = 20;
/** The URL of a webhook. */
export const webhookUrlCharactersMax = 2_000;
/** How long a webhook waits for a response. */
export const webhookAnswerMs = 10_000;
/** Delay before the first retry of a webhook; doubled each time. */
export const webhookRetryFirstMs = 5_000;
/** Longest such delay. */
export const webhookRetryMaxMs = 3_600_000;
/** Longest `Retry-After` that a webhook respects. */
export const webhookRetryAfterMaxMs = 86_400_000;
/** How long webhooks pass on the `traceparent` of a save or delete. */
export const traceKeptSeconds = 120;
/** Entities of a tenant whose `traceparent` is kept; beyond this, all earlier ones are dropped. */
export const tracesKeptMax = 10_000;
/** Random jitter added to such a delay, as a share of it. */
export const webhookRetryJitter = 0.2;

/** Claims on one URL that an explanation of it checks. */
export const explainedClaimsMax = 1000;
/** Claims on one URL that an explanation of it lists. */
export const listedClaimsMax = 100;
/** All documents of a tenant in one request, together. */
export const configurationBodyBytesMax = 16 * 1024 * 1024;
/** Processor time for checking one configuration in a front. */
export const configurationCpuMs = 5_000;
/** Share of a front's time for checking one configuration. */
export const configurationTimeShare = 0.25;
/** Configurations, each of another tenant, that a front checks simultaneously. */
export const configurationsAtOnceMax = 4;
/** Dry runs of one tenant that are waiting or running. */
export const dryRunsPendingMax = 5;
/** Errors of a configuration that a response lists. */
export const configurationErrorsListedMax = 500;
/** How long a tenant can read a job by its id. */
export const jobKnownSeconds = 604_800;
/** The schema and the entity of a preview, together. */
export const previewBodyBytesMax = 8 * 1024 * 1024;
/** Entities that the lookups of a preview can scan if no lookup index can answer them. */
export const previewEntitiesMax = 250_000;
/** How long the lookups of a preview can scan entities. */
export const previewMs = 20_000;
/** Management requests of one tenant to a costly endpoint that can wait in a front; further ones get a 503. */
export const costlyCallsWaitingMax = 32;
/** Samples of added, of changed and of removed views in a dry run, each. */
export const dryRunSamplesMax = 20;
/** All samples of a dry run; views that do not fit are left out. */
export const dryRunSampleCharactersMax = 1024 * 1024;
/** Entities that a dry run copies for lookups that no lookup index can answer yet. */
export const dryRunCopiedEntitiesMax = 500_000;
/** A larger view is not read for the name that a list of entities shows. */
export const namedViewBytesMax = 256 * 1024;
/** Views that one list of entities reads for names. */
export const namedViewsBytesMax = 4 * 1024 * 1024;
/** Default page size of a list in the management interface. */
export const managementPageDefault = 100;
/** Largest page size of a list in the management interface. */
export const managementPageMax = 500;
/** Entities that a list with a state reads for one page. */
export const managementEntitiesReadMax = 5000;
/** Scheduled entities that an explanation of a URL or a view checks. */
export const scheduledExplainedMax = 500;
/** Entities that one page of diagnostics checks. */
export const diagnosedEntitiesMax = 2000;
/** After this time, a page of diagnostics ends with what it has found. */
export const diagnosedMsMax = 1000;
/** Dependents that an explanation lists: views that show a view or look it up. */
export const dependentsListedMax = 100;
/** Views that an explanation builds to check whether their lookups match; others are counted as if they did. */
export const dependentsExplainedMax = 200;
/** Dependents that an explanation counts: views that show a view or look it up. */
export const referrersCountedMax = 10_000;
