/** The HTTP server of a front: serves the route table with uWebSockets.js. */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { TlsFiles } from '../config/settings/settings.ts';
import { type Problem, problems } from '../contract/errors.ts';
import { lingerMs } from '../contract/limits.ts';
import type { Answer } from './answer.ts';
import { Call, type Handler } from './call.ts';
import type { Log } from './log.ts';
import { type RecordedRoute, RequestRecord, requestIdOf, traceparentOf } from './request-record.ts';
import type { RouteDefinition } from './route-definition.ts';
import { Admission, type RateLimits } from './routing/admission.ts';
import { CrossOrigin, preflightAnswer } from './routing/cross-origin.ts';
import {
  failureAnswer,
  type ProblemStyle,
  problemAnswer,
  styleBefore,
  withRequestId,
} from './routing/problem-answer.ts';
import { pathsOf, pathsServed, type RouteName, routeTable, type ServedPath } from './routing/route-table.ts';
import { headRoute, restRoute, type ServedRoute, servedRoute } from './routing/served-route.ts';
import type { Services } from './services.ts';
import { BodyIntake, RequestBody } from './uws/body.ts';
import { ConnectionLimit, LongTurns } from './uws/connection-limits.ts';
import { EventStreams } from './uws/event-streams.ts';
import { Exchanges, type OpenExchange } from './uws/exchanges.ts';
import uws, { appFor, uwsPattern } from './uws/library.ts';
import { bodyBytesOf } from './uws/reply.ts';
import { type HeaderReader, RequestHeaders } from './uws/request-headers.ts';
import { UnsentAnswers } from './uws/unsent-answers.ts';

export interface HttpServerOptions extends RateLimits {
  readonly services: Services;
  readonly handlers: Readonly<Record<RouteName, Handler>>;
  readonly log: Log;
  /** Absent or null for plain HTTP. The files have been checked. */
  readonly tls?: TlsFiles | null;
  /** Connections beyond this number are closed immediately; absent for no limit. */
  readonly connectionsMax?: number;
}

/** Interval at which a closing server checks whether its clients have disconnected. */
const lingerPollMs = 10;
/** Before it stops listening, it waits for a turn of the event loop this short, for at most this many turns. */
const [shortTurnMs, shortTurnTries] = [0.5, 100];

export class HttpServer {
  readonly #app: TemplatedApp;
  readonly #services: Services;
  readonly #log: Log;
  readonly #admission: Admission;
  readonly #crossOrigin: CrossOrigin;
  readonly #unsent: UnsentAnswers;
  readonly #streams: EventStreams;
  readonly #exchanges: Exchanges;
  readonly #longTurns = new LongTurns();
  readonly #intake: BodyIntake;
  readonly #connections: ConnectionLimit;
  #listenSocket: us_listen_socket | null = null;
  #draining = false;
  #answeredWhileDraining = 0;

  constructor({ services, handlers, log, tls = null, connectionsMax, ...limits }: HttpServerOptions) {
    const { metrics } = services;
    this.#app = appFor(tls);
    this.#services = services;
    this.#log = log;
    this.#admission = new Admission(services, limits);
    this.#crossOrigin = new CrossOrigin(services, (kind, headers) =>
      this.#admission.principalOf(kind, headers),
    );
    this.#intake = new BodyIntake(services.limits);
    this.#unsent = new UnsentAnswers(services.limits.unsentAnswersBytes, metrics);
    this.#streams = new EventStreams(metrics);
    this.#exchanges = new Exchanges(this.#unsent, this.#streams);
    this.#connections = new ConnectionLimit(connectionsMax ?? Number.POSITIVE_INFINITY, log);
    this.#app.filter((res, change) => this.#connections.onChange(res, Number(change)));
    for (const definition of routeTable) this.#serve(definition, handlers[definition.name]);
    for (const path of pathsServed()) this.#servePath(path);
    this.#refuseAt('/*', problems.pathUnknown, { style: 'plain', allowsCrossOrigin: true });
    metrics.gaugeOf('millrace_http_requests_active', 'Requests in progress', () => this.active);
    metrics.gaugeOf(
      'millrace_http_body_bytes',
      'Bytes of request bodies in memory',
      () => this.#intake.heldBytes,
    );
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Number of requests in progress. */
  get active(): number {
    return this.#exchanges.active;
  }

  /**
   * Starts listening. Several processes may listen on the same port: the operating system distributes connections among them.
   * @returns the port.
   * @throws Error if the port is not available
   */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          // The library does not say why.
          reject(
            new Error(
              `cannot listen on ${host}:${port}: another program uses the port, or it is not an address of this machine. ` +
                'Change PORT or HOST',
            ),
          );
          return;
        }
        this.#listenSocket = socket;
        resolve(uws.us_socket_local_port(socket));
      });
    });
  }

  /** Ends streaming responses; their clients reconnect. */
  endStreams(): void {
    this.#streams.endAll();
  }

  /**
   * Stops accepting connections, and waits for a limited time until all requests are done and no more arrive. Each response
   * closes its connection, so busy clients have disconnected by then, and no request is interrupted.
   */
  async close(): Promise<void> {
    this.#draining = true;
    const endsMs = performance.now() + this.#services.limits.drainMs;
    this.#streams.close();
    await this.#closeListenSocket();
    await this.#untilSilent(endsMs);
    this.#app.close();
  }

  /**
   * When a listening socket closes, the operating system resets connections that are not accepted yet, possibly with requests
   * on them. So the socket is closed right after a turn that accepted all waiting connections, preferably a short one.
   */
  async #closeListenSocket(): Promise<void> {
    const socket = this.#listenSocket;
    this.#listenSocket = null;
    if (socket === null) return;
    await nextTurn();
    for (let turns = 0; turns < shortTurnTries; turns += 1) {
      const startMs = performance.now();
      await nextTurn();
      if (performance.now() - startMs < shortTurnMs) break;
    }
    uws.us_listen_socket_close(socket);
  }

  /**
   * A request can be on its way on any idle connection, and a load balancer must not repeat a POST whose connection is closed,
   * because it may have been processed. The silence is counted in polls, each after received data was read: a process without
   * processor time receives nothing meanwhile.
   */
  async #untilSilent(endsMs: number): Promise<void> {
    let silentPolls = 0;
    while (this.#connections.open > 0 && silentPolls * lingerPollMs < lingerMs) {
      const nowMs = performance.now();
      if (nowMs >= endsMs) return;
      if (this.active > 0) await this.#exchanges.idle(endsMs - nowMs);
      const answered = this.#answeredWhileDraining;
      await sleep(lingerPollMs);
      await nextTurn();
      const isSilent = this.active === 0 && this.#answeredWhileDraining === answered;
      silentPolls = isSilent ? silentPolls + 1 : 0;
    }
  }

  #serve(definition: RouteDefinition, handler: Handler): void {
    const { metrics, headerPrefixes } = this.#services;
    const route = servedRoute(definition, handler, { times: metrics.forRoute(definition), headerPrefixes });
    for (const pattern of pathsOf(definition).map(uwsPattern)) this.#register(route, pattern);
    if (definition.takesSlashes !== true) return;
    const rest = restRoute(route);
    this.#register(rest.route, rest.pattern);
  }

  #register(route: ServedRoute, pattern: string): void {
    const { method } = route.definition;
    const serve = (res: HttpResponse, req: HttpRequest) => this.#answer(route, res, req);
    if (method === 'get') {
      this.#app.get(pattern, serve);
      const ofHead = headRoute(route);
      this.#app.head(pattern, (res, req) => this.#answer(ofHead, res, req));
    } else if (method === 'post') this.#app.post(pattern, serve);
    else if (method === 'put') this.#app.put(pattern, serve);
    else this.#app.del(pattern, serve);
  }

  /** Handles the methods of a path that no route handles. */
  #servePath({ path, methods, problems: style }: ServedPath): void {
    const preflight = preflightAnswer(path, this.#services.headerPrefixes);
    if (preflight !== null) {
      // Preflights do not count as requests without a key: refusing one would cost as much as the response.
      this.#app.options(uwsPattern(path), (res, req) => {
        const headers = new RequestHeaders(req);
        const { repeated } = headers;
        const record = this.#recordOf(headers, recordedOf(req), '');
        if (repeated === null) return this.#answerAlways(res, record, preflight);
        const refusal = problemAnswer(styleBefore(style), problems.headerRepeated(repeated));
        this.#answerAlways(res, record, { ...refusal, close: true });
      });
    }
    const allowsCrossOrigin = preflight !== null;
    this.#refuseAt(path, problems.methodWrong(methods.join(', ')), {
      style: styleBefore(style),
      allowsCrossOrigin,
    });
  }

  #refuseAt(
    path: string,
    problem: Problem,
    { style, allowsCrossOrigin }: { readonly style: ProblemStyle; readonly allowsCrossOrigin: boolean },
  ): void {
    this.#app.any(uwsPattern(path), (res, req) => {
      const headers = new RequestHeaders(req);
      const { repeated } = headers;
      const refused = repeated === null ? problem : problems.headerRepeated(repeated);
      const refusal = {
        ...problemAnswer(style, this.#admission.countKeyless(res) ?? refused),
        close: repeated !== null,
      };
      const addedLines = allowsCrossOrigin ? this.#crossOrigin.linesFor(headers) : '';
      this.#answerAlways(res, this.#recordOf(headers, recordedOf(req), addedLines), refusal);
    });
  }

  /** Sends a response that needs no handler. */
  #answerAlways(res: HttpResponse, record: RequestRecord, always: Answer): void {
    const answer = this.#outgoing(always, record);
    if (answer.close !== true && !this.#longTurns.isLong()) {
      this.#exchanges.sendAtOnce(res, record, answer);
      return;
    }
    const exchange = this.#exchanges.begin(res, record);
    setImmediate(() => {
      if (!exchange.isAborted) exchange.send(answer);
    });
  }

  /** Handles a request: checks its framing and its key, calls the handler, and sends the response now or later. */
  #answer(route: ServedRoute, res: HttpResponse, req: HttpRequest): void {
    const headers = new RequestHeaders(req);
    const addedLines = route.allowsCrossOrigin
      ? this.#crossOrigin.linesFor(headers, route.definition.access.kind)
      : route.addedLines;
    const record = this.#recordOf(headers, route.recorded, addedLines);
    const takesBody = route.definition.body !== undefined;
    const { repeated } = headers;
    if (repeated !== null) {
      const problem = this.#admission.countKeyless(res) ?? problems.headerRepeated(repeated);
      const refusal = { ...problemAnswer(styleBefore(route.definition.problems), problem), close: true };
      // A pipelined request after it must not be handled: the library closes the connection if one arrives before this
      // response.
      this.#answerLater(route, this.#exchanges.begin(res, record), nextTurn(refusal), record);
      return;
    }
    const length = headers.of('content-length');
    if (headers.of('transfer-encoding') !== '' || (takesBody && length === '')) {
      const refusal = this.#unframed(route, res, headers);
      this.#exchanges.sendAtOnce(res, record, this.#outgoing(refusal, record));
      return;
    }
    const body = takesBody
      ? new RequestBody(res, this.#intake, {
          announcedBytes: Number(length),
          contentEncoding: headers.of('content-encoding'),
        })
      : null;
    const call = this.#callOf(route, { res, req, headers }, body, record);
    const answer = call instanceof Call ? this.#handled(route, call, record) : call;
    if (body !== null || !isReady(answer)) {
      const client = call instanceof Call ? call : null;
      this.#answerLater(route, this.#exchanges.begin(res, record, body, client), answer, record);
    } else if (this.#longTurns.isLong()) {
      this.#answerLater(route, this.#exchanges.begin(res, record), nextTurn(answer), record);
    } else this.#exchanges.sendAtOnce(res, record, this.#admitted(route, answer, record));
  }

  /** Rejects a request without the length of its body, because the body could be parsed as another request. */
  #unframed({ definition }: ServedRoute, res: HttpResponse, headers: HeaderReader): Answer {
    const problem = this.#admission.countKeyless(res) ?? problems.lengthRequired;
    const style = styleBefore(definition.problems);
    return { ...problemAnswer(style, problem), close: headers.of('transfer-encoding') === '' };
  }

  /** @returns an error response if the request is not admitted */
  #callOf(
    { definition, declared, parametersOf }: ServedRoute,
    { res, req, headers }: IncomingRequest,
    body: RequestBody | null,
    record: RequestRecord,
  ): Call | Answer {
    try {
      const principal = this.#admission.admit(definition.access, res, headers);
      record.by(principal);
      // The library declares a string, but returns undefined for a URL without `?`.
      const query = (req.getQuery() as string | undefined) ?? '';
      const head = { query, headers, declared, parameters: parametersOf(req) };
      if (definition.access.kind !== 'management') return new Call(head, principal, body);
      const countNewKeys = (tenant: string, count: number) => this.#admission.countNewKeys(tenant, count);
      return new Call(head, principal, body, countNewKeys);
    } catch (error) {
      return failureAnswer(definition, error, this.#log, record.requestId);
    }
  }

  #handled(
    { definition, handler }: ServedRoute,
    call: Call,
    record: RequestRecord,
  ): Answer | Promise<Answer> {
    try {
      return handler(call);
    } catch (error) {
      return failureAnswer(definition, error, this.#log, record.requestId);
    }
  }

  #answerLater(
    route: ServedRoute,
    exchange: OpenExchange,
    answer: Answer | Promise<Answer>,
    record: RequestRecord,
  ): void {
    if (isReady(answer)) {
      this.#send(route, exchange, answer, record);
      return;
    }
    answer.then(
      (settled) => this.#send(route, exchange, settled, record),
      (error: unknown) => {
        const failure = failureAnswer(route.definition, error, this.#log, record.requestId);
        this.#send(route, exchange, failure, record);
      },
    );
  }

  #send(route: ServedRoute, exchange: OpenExchange, answer: Answer, record: RequestRecord): void {
    if (exchange.isAborted) return;
    try {
      exchange.send(this.#admitted(route, answer, record));
    } catch (error) {
      const { requestId } = record;
      this.#log.error({ endpoint: route.definition.name, requestId, err: error }, 'answer not sent');
    }
  }

  /** The response to send: an error instead if too many responses are waiting for slow clients. */
  #admitted(route: ServedRoute, answer: Answer, record: RequestRecord): Answer {
    const goes = record.isHead || this.#unsent.admit(bodyBytesOf(answer));
    const admitted = goes ? answer : problemAnswer(route.definition.problems, problems.answersWaiting);
    return this.#outgoing(admitted, record);
  }

  #outgoing(given: Answer, { requestId, isHead }: RequestRecord): Answer {
    const answer = withRequestId(given, requestId);
    if (this.#draining) this.#answeredWhileDraining += 1;
    else if (!isHead) return answer;
    return { ...answer, close: this.#draining || answer.close === true, isHead };
  }

  #recordOf(headers: HeaderReader, route: RecordedRoute, addedLines: string): RequestRecord {
    return new RequestRecord(this.#log, route, requestIdOf(headers), traceparentOf(headers), addedLines);
  }
}

interface IncomingRequest {
  readonly res: HttpResponse;
  readonly req: HttpRequest;
  readonly headers: HeaderReader;
}

/** The record of a request that matches no route. */
function recordedOf(req: HttpRequest): RecordedRoute {
  return { path: null, method: req.getMethod().toUpperCase(), times: null };
}

function isReady(answer: Answer | Promise<Answer>): answer is Answer {
  return !(answer instanceof Promise);
}
