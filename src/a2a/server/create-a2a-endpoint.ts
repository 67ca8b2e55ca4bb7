import { AGENT_CARD_PATH, AgentCard } from '@a2a-js/sdk'
import { UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { JsonRpcTransportHandler, ServerCallContext, type A2ARequestHandler } from '@a2a-js/sdk/server'
import type { Endpoint, EndpointAnswer, EndpointRequest } from '../../contract/a2a/endpoint.ts'
import type { A2aServing } from '../../contract/a2a/serving.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { toCard, toPublicCard, type CardFacts } from './agent-card.ts'
import { createCallTasks, type CallTasks } from './call-tasks.ts'
import { createPeers } from './peers.ts'
import { readRequest, type AskedRequest } from './read-request.ts'
import { openPeerSession, type CallSurroundings } from './run-call.ts'
import { verifyToken, type Verified } from './verify-token.ts'

/** What is served to peers, and how. */
export interface A2aEndpointOptions {
  readonly runtime: Runtime
  readonly serving: A2aServing
  /** The URL of this endpoint, for which tokens must be made, if `serving` names none. */
  readonly url: string
  readonly version: string
  /** Whether a person can be asked in this process while a call stands. Default false: others answer, such as `handrail approvals`. */
  readonly asksHere?: boolean
  readonly log: (line: string) => void
}

/** The endpoint of A2A. Other peers and tools can be put in force while it lives. */
export interface A2aEndpoint extends Endpoint {
  /** From the next request on. Undefined: no peer may call any more. Throws a SetupError for a peer that no session can be opened for; then all stays. */
  change(serving: A2aServing | undefined): void
}

/** Where calls of peers are posted to. */
export const a2aPath = '/a2a'
const cardPath = `/${AGENT_CARD_PATH.replace(/^\//, '')}`

/** Calls of one peer that run or wait for a person. */
const mostTasks = 100
/** How long an answer is waited for before it is said that the task is at work. */
const shortMs = 200
const longMs = 600_000

/** Answers peers: nothing of a request is done before its token was held against it, and used up. */
export function createA2aEndpoint(options: A2aEndpointOptions): A2aEndpoint {
  const { runtime, version, asksHere = false, log } = options
  let serving: A2aServing | undefined = options.serving
  checkPeers(runtime, serving)
  let peers = createPeers(serving.peers)
  const audience = (): string => serving?.url ?? options.url
  const surroundings: CallSurroundings = {
    runtime,
    asksHere,
    get tools() {
      return serving?.tools ?? []
    },
  }
  const tasks = createCallTasks(surroundings, log)
  const facts = (): CardFacts => ({
    url: audience(),
    version,
    ...(serving?.name !== undefined && { name: serving.name }),
    ...(serving?.description !== undefined && { description: serving.description }),
  })
  const cardOf = async (verified: Verified): Promise<AgentCard> => {
    const session = openPeerSession(surroundings, verified.peer)
    try {
      return toCard(facts(), session.tools({ all: true }))
    } finally {
      await session.close()
    }
  }
  const answerPeer = async (request: EndpointRequest): Promise<EndpointAnswer> => {
    const body = await request.body()
    if (body === undefined) return refusal(413, 'The request is larger than is taken here.')
    const asked = readRequest(body)
    if (typeof asked === 'string') return refusal(400, asked)
    const token = /^Bearer +(\S+) *$/i.exec(request.authorization ?? '')?.[1]
    if (token === undefined) return challenge('Each request carries a token: "Authorization: Bearer …".')
    const verified = await verifyToken(token, asked.claim, { peers, audience: audience() })
    if ('why' in verified) {
      log(`a2a: a token was refused: ${verified.why}`)
      return verified.status === 401 ? challenge(refusedToken) : refusal(503, unavailable)
    }
    const crowded = request.enter(`a2a:${verified.peer.issuer}`)
    if (crowded !== undefined) return crowded
    if (asked.call !== undefined && tasks.running(verified.peer.issuer) >= mostTasks)
      return refusal(429, `${mostTasks} calls of this peer run, as many as may. Let one end first.`)
    return dispatch(asked, verified, { tasks, cardOf, publicCard: () => toPublicCard(facts()) })
  }
  return {
    serves: (path) => serving !== undefined && (path === a2aPath || path === cardPath),
    async answer(request) {
      const wanted = request.path === cardPath ? 'GET' : 'POST'
      if (request.method !== wanted) return { ...refusal(405, `Use ${wanted}.`), headers: { allow: wanted } }
      if (request.path === a2aPath) return answerPeer(request)
      return { status: 200, body: Object(AgentCard.toJSON(toPublicCard(facts()))) }
    },
    change(next) {
      if (next !== undefined) checkPeers(runtime, next)
      peers = createPeers(next?.peers ?? [])
      serving = next
    },
    close: (graceMs) => tasks.close(graceMs),
  }
}

/** A peer that no session can be opened for would find out at its first call. */
function checkPeers(runtime: Runtime, { tools, peers }: A2aServing): void {
  const issues = peers.flatMap((peer, index) => {
    try {
      void openPeerSession({ runtime, tools, asksHere: false }, peer).close()
      return []
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      return [{ pointer: `/a2a/peers/${index}`, code: 'no_session', message: error.message }]
    }
  })
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'Nothing is served, since not every peer could be:', issues)
}

/** What the caller may have done wrong is for the log: a stranger learns nothing of why. */
const refusedToken =
  'The token does not open this request: it is not of a known peer, not for this, over, or used.'
const unavailable = 'The keys of the peer cannot be had at the moment. Try again later.'

function refusal(status: number, message: string): EndpointAnswer {
  return { status, body: { jsonrpc: '2.0', id: null, error: { code: -32000, message } } }
}

function challenge(message: string): EndpointAnswer {
  return { ...refusal(401, message), headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }
}

interface Dispatch {
  readonly tasks: CallTasks
  readonly cardOf: (verified: Verified) => Promise<AgentCard>
  readonly publicCard: () => AgentCard
}

/** Uses the token up and answers. The protocol is the SDK's, with a handler for this one request of this one peer. */
async function dispatch(
  { body, call }: AskedRequest,
  verified: Verified,
  { tasks, cardOf, publicCard }: Dispatch,
): Promise<EndpointAnswer> {
  if (call === undefined && !(await tasks.useToken(verified))) return challenge(refusedToken)
  let isUsed = false
  const unsupported = (): Promise<never> =>
    Promise.reject(new UnsupportedOperationError('This is not served here.'))
  const handler: Partial<A2ARequestHandler> = {
    getAgentCard: async () => publicCard(),
    getAuthenticatedExtendedAgentCard: () => cardOf(verified),
    // By now the message has the form of the protocol.
    async sendMessage({ configuration }) {
      const begun = call && (await tasks.begin(verified, call))
      isUsed = begun === undefined
      if (begun === undefined) return unsupported()
      const longest = configuration?.returnImmediately === true ? shortMs : longMs
      return tasks.follow(verified, begun.id, longest)
    },
    getTask: ({ id }) => tasks.follow(verified, id, 0),
    cancelTask: ({ id }) => tasks.cancel(verified, id),
  }
  const context = new ServerCallContext({
    user: { isAuthenticated: true, userName: verified.peer.issuer },
    requestedVersion: '1.0',
  })
  const answer = await new JsonRpcTransportHandler({ ...missing(unsupported), ...handler }).handle(
    body,
    context,
  )
  return isUsed ? challenge(refusedToken) : { status: 200, body: answer }
}

/** What no token opens. */
function missing(unsupported: () => Promise<never>): A2ARequestHandler {
  const never = async function* (): AsyncGenerator<never, void, undefined> {
    yield await unsupported()
  }
  return {
    getAgentCard: unsupported,
    getAuthenticatedExtendedAgentCard: unsupported,
    sendMessage: unsupported,
    sendMessageStream: never,
    getTask: unsupported,
    cancelTask: unsupported,
    createTaskPushNotificationConfig: unsupported,
    getTaskPushNotificationConfig: unsupported,
    listTaskPushNotificationConfigs: unsupported,
    deleteTaskPushNotificationConfig: unsupported,
    resubscribe: never,
    listTasks: unsupported,
  }
}
