/** The HTTP front: uWebSockets.js, the route table, and what is the same for every request. */
import './uws/head-limit.ts';
import uws, { type HttpRequest, type HttpResponse, type TemplatedApp } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '../config/configuration.ts';
import type { TlsFiles } from '../config/settings/settings.ts';
import { type Problem, ProblemError, problems } from '../contract/errors.ts';
import { UnavailableError } from '../query/query-service.ts';
import { StoreFullError, StoreUnavailableError } from '../store/redis/errors.ts';
import type { Answer } from './answer.ts';
import { Call, type HeaderPlan, planHeaders } from './call.ts';
import { AnswerToBody, type Handler } from './handler.ts';
import type { Log } from './operations/log.ts';
import type { RouteMetrics } from './operations/metrics.ts';
import { RequestLine } from './operations/request-line.ts';
import { authorize, authorizeMetrics } from './routing/access.ts';
import { problemAnswer } from './routing/problem-answer.ts';
import { OpenRateLimit, RateLimit } from './routing/rate-limit.ts';
import type { RouteDefinition, RouteName } from './routing/route-definition.ts';
import { routeTable } from './routing/route-table.ts';
import type { Services } from './services.ts';
import { AbortedError, BodyIntake, RequestBody } from './uws/body.ts';
import { ConnectionLimit } from './uws/connection-limit.ts';
import { headerBytes } from './uws/header-bytes.ts';
import { LongTurns } from './uws/long-turns.ts';
import { bodyBytesOf, writeAnswer } from './uws/reply.ts';
import { headerText } from './uws/text-decoding.ts';
import { type UnsentAnswer, UnsentAnswers } from './uws/unsent-answers.ts';

export interface HttpServerOptions {
  readonly services: Services;
  readonly handlers: Readonly<Record<RouteName, Handler>>;
  readonly log: Log;
  /** Absent or null: plain HTTP. The files have been checked. */
  readonly tls?: TlsFiles | null;
  /** Requests a second for each API key; absent or 0: no limit. */
  readonly rateLimit?: number;
  /** Requests a second without a known key for each address; absent or 0: no limit. */
  readonly openRateLimit?: number;
  /** Connections beyond this are closed as they come; absent: no limit. */
  readonly connectionsMax?: number;
}

interface ServedRoute {
  readonly definition: RouteDefinition;
  readonly handler: Handler;
  readonly plan: HeaderPlan;
  readonly parameterCount: number;
  readonly metrics: RouteMetrics;
  /** Answers HEAD: as GET, without the body. */
  readonly isHead: boolean;
}

/** A request that is answered later than it came. */
interface Exchange {
  readonly route: ServedRoute;
  readonly res: HttpResponse;
  readonly body: RequestBody | null;
  readonly startedAtMs: number;
  /** Null unless the log writes a line for each request. */
  readonly line: RequestLine | null;
  /** The client went away: there is nobody to answer. */
  isAborted: boolean;
  /** What the client has not taken yet. */
  unsent: UnsentAnswer | null;
}

const transferEncoding = headerBytes('transfer-encoding');
const contentLength = headerBytes('content-length');
const contentEncoding = headerBytes('content-encoding');
const apiKeyName = headerBytes('x-api-key');
const authorizationName = headerBytes('authorization');

export class HttpServer {
  readonly #app: TemplatedApp;
  readonly #services: Services;
  readonly #log: Log;
  readonly #rateLimit: RateLimit | null;
  readonly #openRateLimit: OpenRateLimit | null;
  readonly #unsent: UnsentAnswers;
  readonly #longTurns = new LongTurns();
  readonly #intake: BodyIntake;
  #listenSocket: uws.us_listen_socket | null = null;
  #active = 0;
  #draining = false;
  #onIdle: (() => void) | null = null;

  constructor({
    services,
    handlers,
    log,
    tls = null,
    rateLimit = 0,
    openRateLimit = 0,
    connectionsMax,
  }: HttpServerOptions) {
    this.#app = appFor(tls);
    this.#services = services;
    this.#intake = new BodyIntake(services.limits);
    this.#log = log;
    this.#rateLimit = rateLimit === 0 ? null : new RateLimit(rateLimit);
    this.#openRateLimit = openRateLimit === 0 ? null : new OpenRateLimit(openRateLimit);
    this.#unsent = new UnsentAnswers(services.limits.unsentAnswersBytes, {
      refused: services.metrics.counter(
        'millrace_http_unsent_refused_total',
        'Answers that were refused because too many others waited for their clients',
      ),
      cutOff: services.metrics.counter(
        'millrace_http_unsent_cut_off_total',
        'Clients that were cut off because they did not read their answers',
      ),
    });
    if (connectionsMax !== undefined) {
      const limit = new ConnectionLimit(connectionsMax, log);
      this.#app.filter((res, change) => limit.changed(res, Number(change)));
    }
    for (const definition of routeTable) this.#serve(definition, handlers[definition.name]);
    this.#refuseOtherMethods();
    this.#app.any('/*', (res, req) => this.#refuse(res, req, problems.pathUnknown));
    const { metrics } = services;
    metrics.gauge('millrace_http_requests_active', 'Requests being answered', () => this.#active);
    metrics.gauge(
      'millrace_http_body_bytes',
      'Bytes of request bodies in memory',
      () => this.#intake.heldBytes,
    );
    metrics.gauge(
      'millrace_http_unsent_bytes',
      'Bytes of answers that wait for their clients to read them',
      () => this.#unsent.bytes,
    );
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Requests that are being answered. */
  get active(): number {
    return this.#active;
  }

  /**
   * Begins to take connections. Several processes may listen on one port; the system spreads connections over them.
   * @returns the port. @throws Error when the port cannot be had
   */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}`));
          return;
        }
        this.#listenSocket = socket;
        resolve(uws.us_socket_local_port(socket as unknown as uws.us_socket));
      });
    });
  }

  /** Takes no more connections, lets running requests finish (for a limited time), then closes every connection. */
  async close(): Promise<void> {
    this.#draining = true;
    if (this.#listenSocket !== null) uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
    if (this.#active > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.#services.limits.drainMs);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // One turn, so that what was just handed to the sockets leaves before they close.
    await new Promise((resolve) => setImmediate(resolve));
    this.#app.close();
  }

  #serve(definition: RouteDefinition, handler: Handler): void {
    const { headers, path, method } = definition;
    const plain = headers.filter(({ prefixed }) => !prefixed).map(({ name }) => name);
    const prefixed = headers.filter((header) => header.prefixed).map(({ name }) => name);
    const route: ServedRoute = {
      definition,
      handler,
      plan: planHeaders(plain, prefixed, this.#services.headerPrefixes),
      parameterCount: path.split('{').length - 1,
      metrics: this.#services.metrics.forRoute(definition),
      isHead: false,
    };
    const serve = (res: HttpResponse, req: HttpRequest) => this.#answer(route, res, req);
    const pattern = uwsPattern(path);
    if (method === 'get') {
      this.#app.get(pattern, serve);
      const headRoute: ServedRoute = { ...route, isHead: true };
      this.#app.head(pattern, (res, req) => this.#answer(headRoute, res, req));
    } else if (method === 'post') this.#app.post(pattern, serve);
    else this.#app.del(pattern, serve);
  }

  #refuseOtherMethods(): void {
    const methodsOf = new Map<string, string[]>();
    for (const { path, method } of routeTable) {
      const names = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
      methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...names]);
    }
    for (const [path, methods] of methodsOf) {
      const allow = methods.join(', ');
      this.#app.any(uwsPattern(path), (res, req) => this.#refuse(res, req, problems.methodWrong(allow)));
    }
  }

  #refuse(res: HttpResponse, req: HttpRequest, problem: Problem): void {
    const isHead = req.getMethod() === 'head';
    const answer = this.#finished(problemAnswer('plain', this.#openProblem(res) ?? problem), isHead);
    const line = this.#line(req, null);
    if (this.#longTurns.isLong()) this.#sendNextTurn(res, answer, line);
    else this.#sendAtOnce(res, answer, line);
  }

  #line(req: HttpRequest, definition: RouteDefinition | null): RequestLine | null {
    if (!this.#log.writesDebug) return null;
    return new RequestLine(this.#log, req.getMethod(), definition?.path ?? null);
  }

  /** As `#sendAtOnce`, when others have had their turn. */
  #sendNextTurn(res: HttpResponse, answer: Answer, line: RequestLine | null): void {
    let isAborted = false;
    res.onAborted(() => {
      isAborted = true;
      line?.aborted();
    });
    setImmediate(() => {
      if (!isAborted) this.#sendAtOnce(res, answer, line);
    });
  }

  /** An answer that nobody measures. */
  #sendAtOnce(res: HttpResponse, answer: Answer, line: RequestLine | null): void {
    // Of many pipelined requests the later ones are not corked any more.
    res.cork(() => {
      const body = writeAnswer(res, answer);
      if (body === null) {
        line?.answered(answer);
        return;
      }
      const unsent = this.#unsent.hold(res, body, () => line?.answered(answer));
      res.onAborted(() => {
        line?.aborted();
        unsent.drop();
      });
    });
  }

  #answer(route: ServedRoute, res: HttpResponse, req: HttpRequest): void {
    const { definition } = route;
    const takesBody = definition.body !== undefined;
    const startedAtMs = takesBody || route.metrics.timesNext() ? performance.now() : null;
    const line = this.#line(req, definition);
    if (req.getHeader(transferEncoding) !== '' || (takesBody && req.getHeader(contentLength) === '')) {
      // What follows such a head cannot be told from another request.
      const close = req.getHeader(transferEncoding) === '';
      const problem = this.#openProblem(res) ?? problems.lengthRequired;
      const answer = { ...problemAnswer('plain', problem), close };
      this.#sendAtOnce(res, this.#finished(answer, route.isHead), line);
      route.metrics.observeAtOnce(answer.status, msSince(startedAtMs));
      return;
    }
    const body = takesBody ? new RequestBody(res, this.#intake, Number(req.getHeader(contentLength))) : null;
    const answer = this.#handled(route, res, req, body, line);
    if (body !== null || !isReady(answer)) {
      this.#answerLater(this.#begin(route, res, body, startedAtMs, line), answer);
      return;
    }
    if (this.#longTurns.isLong()) {
      this.#answerLater(this.#begin(route, res, body, startedAtMs, line), nextTurn(answer));
      return;
    }
    // The way of cached answers: when the client takes all of it, nothing outlives this call, so nothing is kept for it.
    const admitted = this.#admitted(route, answer);
    const rest = writeAnswer(res, admitted);
    if (rest === null) {
      route.metrics.observeAtOnce(admitted.status, msSince(startedAtMs));
      line?.answered(admitted);
    } else this.#sendRest(this.#begin(route, res, body, startedAtMs, line), admitted, rest);
  }

  #handled(
    route: ServedRoute,
    res: HttpResponse,
    req: HttpRequest,
    body: RequestBody | null,
    line: RequestLine | null,
  ): ReturnType<Handler> {
    const { definition } = route;
    try {
      const principal = this.#admit(definition, res, req);
      line?.by(principal);
      if (body !== null) requirePlainBody(req);
      const call = new Call(req, route.plan, route.parameterCount, principal, body);
      const answer = route.handler(call);
      if (!isReady(answer)) call.keepHeaders();
      return answer;
    } catch (error) {
      const isUnknown = error instanceof ProblemError && error.problem.status === 401;
      const tooBusy = isUnknown ? this.#openProblem(res) : null;
      return this.#failure(definition, tooBusy === null ? error : new ProblemError(tooBusy));
    }
  }

  /** Whom the request speaks for, if it may be answered now. @throws ProblemError 401, 403, 429 */
  #admit({ access }: RouteDefinition, res: HttpResponse, req: HttpRequest): Principal | null {
    const { metricsKeyHash } = this.#services;
    if (access.kind === 'open' || (access.kind === 'metrics' && metricsKeyHash === null)) {
      const problem = this.#openProblem(res);
      if (problem !== null) throw new ProblemError(problem);
      return null;
    }
    const apiKey = req.getHeader(apiKeyName);
    if (access.kind === 'metrics') {
      authorizeMetrics(metricsKeyHash, req.getHeader(authorizationName), apiKey);
      return null;
    }
    const configuration = this.#services.configuration.current;
    const principal = authorize(access, apiKey, configuration);
    const waitSeconds =
      this.#rateLimit === null ? 0 : this.#rateLimit.take(configuration, apiKey, performance.now());
    if (waitSeconds > 0) throw new ProblemError(problems.keyTooBusy(waitSeconds));
    return principal;
  }

  /** Counts a request that shows no known key. @returns why it is not answered; null: it is */
  #openProblem(res: HttpResponse): Problem | null {
    if (this.#openRateLimit === null) return null;
    const waitSeconds = this.#openRateLimit.take(res.getRemoteAddress(), performance.now());
    return waitSeconds > 0 ? problems.addressTooBusy(waitSeconds) : null;
  }

  #begin(
    route: ServedRoute,
    res: HttpResponse,
    body: RequestBody | null,
    startedAtMs: number | null,
    line: RequestLine | null,
  ): Exchange {
    this.#active += 1;
    const exchange: Exchange = {
      route,
      res,
      body,
      startedAtMs: startedAtMs ?? performance.now(),
      line,
      isAborted: false,
      unsent: null,
    };
    res.onAborted(() => {
      exchange.isAborted = true;
      line?.aborted();
      exchange.unsent?.drop();
      body?.abort();
      this.#over(body);
    });
    return exchange;
  }

  #answerLater(exchange: Exchange, answer: ReturnType<Handler>): void {
    const { body } = exchange;
    if (!(answer instanceof AnswerToBody)) this.#settle(exchange, answer);
    else if (body === null) this.#fail(exchange, new TypeError('the route has no body'));
    else {
      body.whole(
        answer.bodyBytesMax,
        answer.tooLarge,
        (bytes) => this.#settle(exchange, answer.answer(bytes)),
        (error) => this.#fail(exchange, error),
      );
    }
  }

  #settle(exchange: Exchange, answer: Answer | Promise<Answer>): void {
    if (!(answer instanceof Promise)) this.#send(exchange, answer);
    else
      answer.then(
        (settled) => this.#send(exchange, settled),
        (error: unknown) => this.#fail(exchange, error),
      );
  }

  #fail(exchange: Exchange, error: unknown): void {
    this.#send(exchange, this.#failure(exchange.route.definition, error));
  }

  #send(exchange: Exchange, answer: Answer): void {
    const { route, res, isAborted } = exchange;
    if (isAborted) return;
    try {
      const admitted = this.#admitted(route, answer);
      res.cork(() => {
        const rest = writeAnswer(res, admitted);
        if (rest === null) this.#sent(exchange, admitted);
        else this.#sendRest(exchange, admitted, rest);
      });
    } catch (error) {
      this.#log.error({ endpoint: route.definition.name, err: error }, 'answer not sent');
    }
  }

  #sendRest(exchange: Exchange, answer: Answer, rest: Uint8Array): void {
    exchange.unsent = this.#unsent.hold(exchange.res, rest, () => this.#sent(exchange, answer));
  }

  #sent({ route, body, startedAtMs, line }: Exchange, answer: Answer): void {
    route.metrics.observe(answer.status, performance.now() - startedAtMs);
    line?.answered(answer);
    this.#over(body);
  }

  /** The answer as it goes out: another one while too many wait for their clients. */
  #admitted({ definition, isHead }: ServedRoute, answer: Answer): Answer {
    const goes = isHead || this.#unsent.admit(bodyBytesOf(answer));
    return this.#finished(
      goes ? answer : problemAnswer(definition.problems, problems.answersWaiting),
      isHead,
    );
  }

  #over(body: RequestBody | null): void {
    body?.release();
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }

  #failure({ name, problems: style }: RouteDefinition, error: unknown): Answer {
    if (error instanceof AbortedError) return problemAnswer('plain', problems.internal);
    const problem = problemOf(error);
    if (problem.status === 500) this.#log.error({ endpoint: name, err: error }, 'request failed');
    const answer = problemAnswer(style, problem);
    return problem.status === 408 ? { ...answer, close: true } : answer;
  }

  #finished(answer: Answer, isHead: boolean): Answer {
    if (!this.#draining && !isHead) return answer;
    return { ...answer, close: this.#draining || answer.close === true, isHead };
  }
}

/** @throws ProblemError 415 for a body that would have to be unpacked first */
function requirePlainBody(req: HttpRequest): void {
  const coding = req.getHeader(contentEncoding);
  if (coding === '' || coding.toLowerCase() === 'identity') return;
  throw new ProblemError(problems.contentCodingUnknown(headerText(coding)));
}

function msSince(startedAtMs: number | null): number | null {
  return startedAtMs === null ? null : performance.now() - startedAtMs;
}

function isReady(answer: ReturnType<Handler>): answer is Answer {
  return !(answer instanceof Promise) && !(answer instanceof AnswerToBody);
}

function appFor(tls: TlsFiles | null): TemplatedApp {
  return tls === null ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof StoreFullError) return problems.storeFull;
  if (error instanceof StoreUnavailableError || error instanceof UnavailableError)
    return problems.unavailable;
  return problems.internal;
}

/** `/a/{b}` as uWebSockets.js writes it: `/a/:b`. */
function uwsPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
