import { lstatSync } from 'node:fs'
import {
  makeChanges,
  planChanges,
  toServerNotes,
  type ServerChanges,
} from '../../compose/servers/change-servers.ts'
import { otherClients, readTheirServers } from '../../compose/servers/other-clients.ts'
import { openFile } from '../../config/files/settings-file.ts'
import { readServers } from '../../compose/servers/mcp-file.ts'
import { toOwnEntry } from '../../compose/servers/own-entry.ts'
import { readPasted, type PastedServer } from '../../compose/servers/read-pasted.ts'
import { searchRegistry } from '../../compose/servers/search-registry.ts'
import { allow, findOwnVariables, tryServer, type Trial } from '../../compose/servers/try-server.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { ofAllTenants } from '../base/read-query.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { clientRow, plannedRow, registryRow, trialRow } from './server-setup-rows.ts'

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const

const trial = endpoint({
  method: 'POST',
  path: '/api/servers/try',
  summary:
    'Starts a server in its sandbox as it would be in service, and says what it was held back from and the least entry of mcp.json with which it got so far. Writes nothing.',
  role: 'operator',
  reach: ofAllTenants,
  body: {
    type: 'object',
    properties: {
      text: {
        type: 'string',
        minLength: 1,
        description: 'JSON or TOML of any client, a command line, or a URL.',
      },
      name: { type: 'string', description: 'What it is called, if the text has one server.' },
      hosts: { ...texts, description: 'That it may reach, beside what the text says.' },
      folders: { ...texts, description: 'That it may write to, beside what the text says.' },
      variables: {
        ...texts,
        description:
          'Of the environment of Handrail, that it is given. One that the text names is not given to it otherwise.',
      },
    },
    required: ['text'],
    additionalProperties: false,
  },
  answer: {
    type: 'object',
    properties: { trials: { type: 'array', items: trialRow } },
    required: ['trials'],
  },
  run: (asked) =>
    refusingSetup(async () => {
      const { body, parts } = asked
      const pasted = await readPasted(String(body['text']), textOf(body['name']))
      const allowed = {
        hosts: listOf(body['hosts']),
        folders: listOf(body['folders']),
        variables: listOf(body['variables']),
      }
      const trials: Trial[] = []
      for (const each of pasted) {
        const own = findOwnVariables(each, allowed.variables)
        // One after the other: each may fetch packages.
        if (each.entry === undefined) trials.push(leftOut(each))
        else if (own.length > 0) trials.push(heldBack(each, own))
        else trials.push(await tryServer(allow(each, allowed), parts.serverSetup.openTrial))
      }
      return { trials: trials.map((each) => ({ ...each, ...copyLists(each) })) }
    }),
})

const changes = {
  type: 'object',
  minProperties: 1,
  additionalProperties: {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    properties: {
      entry: { type: 'object', description: 'The whole entry as it is to be.' },
      fields: { type: 'object', description: 'Fields of the entry that is there.' },
      remove: { type: 'boolean', const: true },
    },
    additionalProperties: false,
  },
  description: 'What is to become of servers, by name.',
} as const

const plan = endpoint({
  method: 'POST',
  path: '/api/servers/plan',
  summary: 'What a change of mcp.json would be, as a diff without secrets. Writes nothing.',
  role: 'operator',
  reach: ofAllTenants,
  body: { type: 'object', properties: { changes }, required: ['changes'], additionalProperties: false },
  answer: plannedRow,
  run: (asked) =>
    refusingSetup(() => {
      const { diff, digest } = planChanges(asked.parts.serverSetup.path, changesOf(asked))
      return { diff, digest }
    }),
})

const write = endpoint({
  method: 'POST',
  path: '/api/servers/write',
  summary:
    'Makes a change of mcp.json that was looked at; refused if the file is another one by now. Comments in it stay, and it is in force as soon as the server has read it.',
  role: 'operator',
  reach: ofAllTenants,
  body: {
    type: 'object',
    properties: { changes, digest: { type: 'string', description: 'Of the plan that was seen.' } },
    required: ['changes', 'digest'],
    additionalProperties: false,
  },
  answer: plannedRow,
  run: (asked) =>
    refusingSetup(async () => {
      const { parts, visitor, body } = asked
      const wanted = changesOf(asked)
      const { store } = parts.runtime
      if (store.readOnly !== undefined || store.trouble !== undefined)
        throw new SetupError('store_unusable', 'The store takes no records now, so nothing was changed.')
      const { diff, digest } = makeChanges(parts.serverSetup.path, wanted, String(body['digest']))
      const notes = toServerNotes(wanted, { by: visitor.actor, at: Date.now() })
      await store.append(notes.map((record) => ({ record, body: null })))
      return { diff, digest }
    }),
})

const entry = endpoint({
  method: 'GET',
  path: '/api/servers/{server}/entry',
  summary:
    'The entry of a server without secrets, and what would let it have what its words name and it is kept from: each one change of the entry.',
  role: 'operator',
  reach: ofAllTenants,
  answer: {
    type: 'object',
    properties: {
      entry: { type: 'object' },
      openings: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            what: { type: 'string' },
            fields: { type: 'object', description: 'As /api/servers/plan takes them.' },
          },
          required: ['what', 'fields'],
        },
      },
    },
    required: ['entry', 'openings'],
  },
  run: (asked) =>
    refusingSetup(() => {
      const { path, parts } = asked
      const name = path['server'] ?? ''
      const found = readServers(openFile(parts.serverSetup.path))[name]
      if (!isPlainObject(found))
        throw new SetupError('unknown_server', `There is no server "${name.slice(0, 100)}" in mcp.json.`)
      const own = found as JsonObject
      const state = parts.servers.describe().servers.find(({ server }) => server === name)
      const { entry: safe = {} } = toOwnEntry(name, own, { keepsSecrets: false })
      const openings = state === undefined ? [] : toOpenings(own, state)
      return { entry: safe, openings }
    }),
})

/** What one change each would let a server have. */
function toOpenings(
  own: JsonObject,
  {
    wants,
    refused,
  }: Pick<ReturnType<Asked['parts']['servers']['describe']>['servers'][number], 'wants' | 'refused'>,
): { what: string; fields: JsonObject }[] {
  const { network } = own
  const before = Array.isArray(network) ? network : []
  const hosts = [...new Set(refused.map((host) => host.replace(/:(?:80|443)$/, '')))]
  return [
    ...(wants.read === undefined
      ? []
      : [{ what: `reading ${wants.read.join(', ')}`, fields: { read: [...wants.read] } }]),
    ...(wants.network === undefined
      ? []
      : [
          {
            what: wants.network === true ? 'the network' : `reaching ${wants.network.join(', ')}`,
            fields: { network: wants.network === true ? true : [...wants.network] },
          },
        ]),
    ...(network === true
      ? []
      : hosts.map((host) => ({ what: `reaching ${host}`, fields: { network: [...before, host] } }))),
  ]
}

const clients = endpoint({
  method: 'GET',
  path: '/api/clients',
  summary:
    'Programs on this machine that have MCP servers of their own, and which of those are here already.',
  role: 'operator',
  reach: ofAllTenants,
  answer: {
    type: 'object',
    properties: { clients: { type: 'array', items: clientRow } },
    required: ['clients'],
  },
  run: (asked) =>
    refusingSetup(async () => {
      const present = readServers(openFile(asked.parts.serverSetup.path))
      const found = Object.entries(otherClients).map(async ([client, about]) => {
        const path = about.path()
        if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return []
        try {
          const servers = Object.entries(await readTheirServers(about, path)).map(([name, theirs]) => {
            const { entry: own, notes } = toOwnEntry(name, theirs, { ...about, keepsSecrets: false })
            return {
              name,
              isHere: Object.hasOwn(present, name),
              notes: [...notes],
              ...(own !== undefined && { entry: own }),
            }
          })
          return [{ client, title: about.title, path, servers }]
        } catch (error) {
          if (!(error instanceof SetupError)) throw error
          return [{ client, title: about.title, path, servers: [], fault: error.message }]
        }
      })
      return { clients: (await Promise.all(found)).flat() }
    }),
})

const registry = endpoint({
  method: 'GET',
  path: '/api/registry',
  summary: 'Searches the registry of MCP servers that config.json names. Nothing else asks it for anything.',
  role: 'operator',
  reach: ofAllTenants,
  query: { search: 'Words.' },
  answer: {
    type: 'object',
    properties: { servers: { type: 'array', items: registryRow }, registry: { type: 'string' } },
    required: ['servers', 'registry'],
  },
  run: (asked) =>
    refusingSetup(async () => {
      const base = asked.parts.serverSetup.registry()
      if (base === undefined)
        throw new SetupError(
          'registry_unreachable',
          'No registry is asked: none is set. To search the official one, put "mcpRegistry": "https://registry.modelcontextprotocol.io" into config.json.',
        )
      const words = asked.query.get('search')?.trim() ?? ''
      if (words === '') throw new SetupError('invalid_options', 'Say what to search for.')
      const found = await searchRegistry(base, words)
      return { servers: found.map((each) => ({ ...each, notes: [...each.notes] })), registry: base }
    }),
})

/** As the schema of the body says. */
function changesOf({ body }: Asked): ServerChanges {
  return body['changes'] as ServerChanges
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** One that cannot be tried. */
function leftOut({ name, notes }: Pick<PastedServer, 'name' | 'notes'>): Trial {
  const none: readonly string[] = []
  return {
    name,
    entry: {},
    works: false,
    tools: none,
    added: {},
    hosts: none,
    folders: none,
    variables: none,
    unset: none,
    own: none,
    packages: none,
    wantsLogin: false,
    fault: notes.join(' '),
    notes: none,
  }
}

/** One that was not tried, since a person has to allow something first. */
function heldBack({ name, entry: pasted = {}, notes }: PastedServer, own: readonly string[]): Trial {
  const { url } = pasted
  const receiver = typeof url === 'string' ? new URL(url).host : 'its program'
  const fault = `It was not tried: ${receiver} would be given ${own.join(', ')} of the environment of Handrail itself. Allow that if it is meant to have it, or paste the value in its place.`
  return { ...leftOut({ name, notes }), entry: pasted, own, fault, notes }
}

function copyLists({ entry, added, tools, hosts, folders, variables, unset, own, packages, notes }: Trial) {
  return {
    entry: entry as { [field: string]: Json },
    added: added as { [field: string]: Json },
    tools: [...tools],
    hosts: [...hosts],
    folders: [...folders],
    variables: [...variables],
    unset: [...unset],
    own: [...own],
    packages: [...packages],
    notes: [...notes],
  }
}

export const serverChangeEndpoints: readonly Endpoint[] = [trial, plan, write, entry, clients, registry]
