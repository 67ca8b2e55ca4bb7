import type { A2aAgent, A2aConfiguration } from '../contract/a2a/agents.ts'
import type { A2aPeer, A2aServing } from '../contract/a2a/serving.ts'
import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { idForm, isId } from '../kit/match/is-id.ts'
import { isTrustworthyUrl } from '../kit/match/loopback.ts'
import { checkEach } from './base/check-lists.ts'
import { findToolFlaw } from './base/find-flaw.ts'
import { checkTenantId } from './policy/check-tenants.ts'

/** What a schema cannot say of agents that fit it. */
export function checkA2a(a2a: A2aConfiguration | undefined): Issue[] {
  if (a2a === undefined) return []
  return [
    ...Object.keys(a2a.issuers ?? {}).flatMap((tenant) =>
      checkTenantId(tenant, pointerTo('/a2a/issuers', tenant)),
    ),
    ...Object.entries(a2a.agents).flatMap(([name, agent]) =>
      checkAgent(name, agent, pointerTo('/a2a/agents', name)),
    ),
  ]
}

const agentName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/

function checkAgent(name: string, { card, tenants = [] }: A2aAgent, pointer: string): Issue[] {
  const flaw = findUrlFlaw(card)
  return [
    ...(agentName.test(name)
      ? []
      : [
          {
            pointer,
            code: 'invalid_id',
            message: 'The name of an agent is made of letters, digits, "_" and "-", 40 at most.',
          },
        ]),
    ...(flaw === undefined ? [] : [{ pointer: `${pointer}/card`, code: 'invalid_url', message: flaw }]),
    ...tenants.flatMap((tenant, index) => checkTenantId(tenant, `${pointer}/tenants/${index}`)),
  ]
}

/** What a schema cannot say of what is served to peers. */
export function checkA2aServing(serving: A2aServing | undefined): Issue[] {
  if (serving === undefined) return []
  const flaw = serving.url === undefined ? undefined : findUrlFlaw(serving.url)
  return [
    ...(flaw === undefined ? [] : [{ pointer: '/a2a/url', code: 'invalid_url', message: flaw }]),
    ...checkPatterns(serving.tools, '/a2a/tools'),
    ...serving.peers.flatMap((peer, index) => checkPeer(peer, `/a2a/peers/${index}`)),
    ...checkIssuers(serving.peers),
  ]
}

function checkPeer(peer: A2aPeer, pointer: string): Issue[] {
  const { keys, jwksUri, actor, tenant, allowedTools, disallowedTools } = peer
  const flaw = jwksUri === undefined ? undefined : findUrlFlaw(jwksUri)
  return [
    ...((keys === undefined) === (jwksUri === undefined)
      ? [
          {
            pointer,
            code: 'contradiction',
            message: 'Say where its public keys are: here as "keys", or at a URL as "jwksUri", and not both.',
          },
        ]
      : []),
    ...(flaw === undefined ? [] : [{ pointer: `${pointer}/jwksUri`, code: 'invalid_url', message: flaw }]),
    ...(isId(actor)
      ? []
      : [
          {
            pointer: `${pointer}/actor`,
            code: 'invalid_id',
            message: `"${actor.slice(0, 80)}" is not an id of an actor: use ${idForm}.`,
          },
        ]),
    ...(tenant === undefined ? [] : checkTenantId(tenant, `${pointer}/tenant`)),
    ...checkPatterns(allowedTools, `${pointer}/allowedTools`),
    ...checkPatterns(disallowedTools, `${pointer}/disallowedTools`),
  ]
}

/** Of two peers with one issuer, a token could mean either. */
function checkIssuers(peers: readonly A2aPeer[]): Issue[] {
  return peers.flatMap(({ issuer }, index) => {
    const first = peers.findIndex((each) => each.issuer === issuer)
    if (first === index) return []
    const message = `This is the issuer of /a2a/peers/${first} already. Each peer has one of its own.`
    return [{ pointer: `/a2a/peers/${index}/issuer`, code: 'duplicate_id', message }]
  })
}

function checkPatterns(patterns: readonly string[] | undefined, pointer: string): Issue[] {
  return checkEach(patterns, pointer, { code: 'never_matches', find: findToolFlaw })
}

/** Tokens and keys over a wire that others can read are none. */
function findUrlFlaw(url: string): string | undefined {
  if (!URL.canParse(url)) return `"${url}" is not a URL. Write it from "https://" on.`
  const { username, password, hash } = new URL(url)
  if (username !== '' || password !== '') return 'The URL has a user name or a password. Leave them out.'
  if (hash !== '') return `"${url}" has a fragment. Leave it out.`
  return isTrustworthyUrl(url)
    ? undefined
    : `"${url}" is not encrypted. Use https, or http on this machine only.`
}
