/** The HTTP front: it serves the route table with uWebSockets.js, and leads every request to its answer. */
import './uws/head-limit.ts';
import uws, { type HttpRequest, type HttpResponse, type TemplatedApp } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TlsFiles } from '../config/settings/settings.ts';
import { type Problem, ProblemError, problems } from '../contract/errors.ts';
import type { Answer } from './answer.ts';
import { Call, type HeaderPlan, planHeaders } from './call.ts';
import type { Handler } from './handler.ts';
import type { Log } from './operations/log.ts';
import { type RecordedRoute, RequestRecord } from './operations/request-record.ts';
import { Admission, type RateLimits } from './routing/admission.ts';
import { failureAnswer } from './routing/failure.ts';
import { problemAnswer } from './routing/problem-answer.ts';
import type { RouteDefinition, RouteName } from './routing/route-definition.ts';
import { methodsByPath, routeTable } from './routing/route-table.ts';
import type { Services } from './services.ts';
import { BodyIntake, RequestBody } from './uws/body.ts';
import { ConnectionLimit } from './uws/connection-limit.ts';
import { type Exchange, Exchanges } from './uws/exchanges.ts';
import { LongTurns } from './uws/long-turns.ts';
import { bodyBytesOf } from './uws/reply.ts';
import { headerText } from './uws/text-decoding.ts';
import { UnsentAnswers } from './uws/unsent-answers.ts';

export interface HttpServerOptions extends RateLimits {
  readonly services: Services;
  readonly handlers: Readonly<Record<RouteName, Handler>>;
  readonly log: Log;
  /** Absent or null: plain HTTP. The files have been checked. */
  readonly tls?: TlsFiles | null;
  /** Further connections are closed as they come; absent: no limit. */
  readonly connectionsMax?: number;
}

interface ServedRoute {
  readonly definition: RouteDefinition;
  readonly handler: Handler;
  readonly plan: HeaderPlan;
  readonly parameterCount: number;
  readonly recorded: RecordedRoute;
  /** The route answers HEAD: as GET, but without the body. */
  readonly isHead: boolean;
}

export class HttpServer {
  readonly #app: TemplatedApp;
  readonly #services: Services;
  readonly #log: Log;
  readonly #admission: Admission;
  readonly #unsent: UnsentAnswers;
  readonly #exchanges: Exchanges;
  readonly #longTurns = new LongTurns();
  readonly #intake: BodyIntake;
  #listenSocket: uws.us_listen_socket | null = null;
  #draining = false;

  constructor({ services, handlers, log, tls = null, connectionsMax, ...limits }: HttpServerOptions) {
    const { metrics } = services;
    this.#app = appFor(tls);
    this.#services = services;
    this.#log = log;
    this.#admission = new Admission(services, limits);
    this.#intake = new BodyIntake(services.limits);
    this.#unsent = new UnsentAnswers(services.limits.unsentAnswersBytes, metrics);
    this.#exchanges = new Exchanges(this.#unsent);
    if (connectionsMax !== undefined) {
      const limit = new ConnectionLimit(connectionsMax, log);
      this.#app.filter((res, change) => limit.changed(res, Number(change)));
    }
    for (const definition of routeTable) this.#serve(definition, handlers[definition.name]);
    for (const [path, methods] of methodsByPath())
      this.#refuseAt(path, problems.methodWrong(methods.join(', ')));
    this.#refuseAt('/*', problems.pathUnknown);
    metrics.gaugeOf('millrace_http_requests_active', 'Requests being answered', () => this.active);
    metrics.gaugeOf(
      'millrace_http_body_bytes',
      'Bytes of request bodies in memory',
      () => this.#intake.heldBytes,
    );
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Requests that are being answered. */
  get active(): number {
    return this.#exchanges.active;
  }

  /**
   * Begins to take connections. Several processes may listen on one port. The operating system spreads connections over
   * them.
   * @returns the port.
   * @throws Error when the port cannot be had
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

  /** Takes no more connections, waits for running requests for a limited time, then closes every connection. */
  async close(): Promise<void> {
    this.#draining = true;
    if (this.#listenSocket !== null) uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
    await this.#exchanges.idle(this.#services.limits.drainMs);
    // One more turn, so that the bytes that were just handed to the sockets leave before these close.
    await nextTurn();
    this.#app.close();
  }

  #serve(definition: RouteDefinition, handler: Handler): void {
    const { headers, path, method } = definition;
    const plain = headers.filter(({ prefixed }) => !prefixed).map(({ name }) => name);
    const prefixed = headers.filter((header) => header.prefixed).map(({ name }) => name);
    const times = this.#services.metrics.forRoute(definition);
    const route: ServedRoute = {
      definition,
      handler,
      plan: planHeaders(plain, prefixed, this.#services.headerPrefixes),
      parameterCount: path.split('{').length - 1,
      recorded: { path, method: method.toUpperCase(), times },
      isHead: false,
    };
    const serve = (res: HttpResponse, req: HttpRequest) => this.#answer(route, res, req);
    const pattern = uwsPattern(path);
    if (method === 'get') {
      this.#app.get(pattern, serve);
      const headRoute: ServedRoute = { ...route, isHead: true, recorded: { path, method: 'HEAD', times } };
      this.#app.head(pattern, (res, req) => this.#answer(headRoute, res, req));
    } else if (method === 'post') this.#app.post(pattern, serve);
    else this.#app.del(pattern, serve);
  }

  #refuseAt(path: string, problem: Problem): void {
    this.#app.any(uwsPattern(path), (res, req) => {
      const method = req.getMethod().toUpperCase();
      const record = new RequestRecord(this.#log, { path: null, method, times: null });
      const refusal = problemAnswer('plain', this.#admission.countKeyless(res) ?? problem);
      const answer = this.#outgoing(refusal, method === 'HEAD');
      if (!this.#longTurns.isLong()) {
        this.#exchanges.sendAtOnce(res, record, answer);
        return;
      }
      const exchange = this.#exchanges.begin(res, record, null);
      setImmediate(() => {
        if (!exchange.isAborted) exchange.send(answer);
      });
    });
  }

  /** Leads a request to its answer: is it whole, whose is it, what is the answer, and does the answer wait for anything? */
  #answer(route: ServedRoute, res: HttpResponse, req: HttpRequest): void {
    const record = new RequestRecord(this.#log, route.recorded);
    const takesBody = route.definition.body !== undefined;
    if (req.getHeader('transfer-encoding') !== '' || (takesBody && req.getHeader('content-length') === '')) {
      this.#exchanges.sendAtOnce(res, record, this.#outgoing(this.#unframed(res, req), route.isHead));
      return;
    }
    const body = takesBody
      ? new RequestBody(res, this.#intake, Number(req.getHeader('content-length')))
      : null;
    const answer = this.#handled(route, res, req, body, record);
    if (body !== null || !isReady(answer)) {
      this.#answerLater(route, this.#exchanges.begin(res, record, body), answer);
    } else if (this.#longTurns.isLong()) {
      this.#answerLater(route, this.#exchanges.begin(res, record, null), nextTurn(answer));
    } else this.#exchanges.sendAtOnce(res, record, this.#admitted(route, answer));
  }

  /** Refuses a head that does not tell where the body ends. What follows could be taken for another request. */
  #unframed(res: HttpResponse, req: HttpRequest): Answer {
    const problem = this.#admission.countKeyless(res) ?? problems.lengthRequired;
    return { ...problemAnswer('plain', problem), close: req.getHeader('transfer-encoding') === '' };
  }

  #handled(
    { definition, handler, plan, parameterCount }: ServedRoute,
    res: HttpResponse,
    req: HttpRequest,
    body: RequestBody | null,
    record: RequestRecord,
  ): Answer | Promise<Answer> {
    try {
      const principal = this.#admission.admit(definition.access, res, req);
      record.by(principal);
      if (body !== null) requirePlainBody(req);
      const call = new Call(req, plan, parameterCount, principal, body);
      const answer = handler(call);
      if (!isReady(answer)) call.keepHeaders();
      return answer;
    } catch (error) {
      return failureAnswer(definition, error, this.#log);
    }
  }

  #answerLater(route: ServedRoute, exchange: Exchange, answer: Answer | Promise<Answer>): void {
    if (isReady(answer)) {
      this.#send(route, exchange, answer);
      return;
    }
    answer.then(
      (settled) => this.#send(route, exchange, settled),
      (error: unknown) => this.#send(route, exchange, failureAnswer(route.definition, error, this.#log)),
    );
  }

  #send(route: ServedRoute, exchange: Exchange, answer: Answer): void {
    if (exchange.isAborted) return;
    try {
      exchange.send(this.#admitted(route, answer));
    } catch (error) {
      this.#log.error({ endpoint: route.definition.name, err: error }, 'answer not sent');
    }
  }

  /** The answer as it goes out. A refusal takes its place while too many answers wait for their clients. */
  #admitted({ definition, isHead }: ServedRoute, answer: Answer): Answer {
    const goes = isHead || this.#unsent.admit(bodyBytesOf(answer));
    return this.#outgoing(
      goes ? answer : problemAnswer(definition.problems, problems.answersWaiting),
      isHead,
    );
  }

  #outgoing(answer: Answer, isHead: boolean): Answer {
    if (!this.#draining && !isHead) return answer;
    return { ...answer, close: this.#draining || answer.close === true, isHead };
  }
}

/** @throws ProblemError 415 for a body that would have to be unpacked first */
function requirePlainBody(req: HttpRequest): void {
  const coding = req.getHeader('content-encoding');
  if (coding === '' || coding.toLowerCase() === 'identity') return;
  throw new ProblemError(problems.contentCodingUnknown(headerText(coding)));
}

function isReady(answer: Answer | Promise<Answer>): answer is Answer {
  return !(answer instanceof Promise);
}

function appFor(tls: TlsFiles | null): TemplatedApp {
  return tls === null ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

/** `/a/{b}` as uWebSockets.js writes it: `/a/:b`. */
function uwsPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
