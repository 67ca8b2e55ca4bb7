import type { FromSchema } from '../../define/infer-input.ts'

const texts = { type: 'array', items: { type: 'string' } } as const

/** What came of trying a server. */
export const trialRow = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    entry: { type: 'object', description: 'The least entry with which it got so far. No secret is in it.' },
    works: { type: 'boolean', description: 'Whether it answered, and listed its tools.' },
    tools: texts,
    added: { type: 'object', description: 'Fields that its own words need, and that were added.' },
    hosts: { ...texts, description: 'That its program asked for and was kept from.' },
    folders: { ...texts, description: 'That its program says it could not write to.' },
    variables: { ...texts, description: 'That it says it needs and does not have.' },
    unset: { ...texts, description: 'Variables of its entry that are not set for this server.' },
    own: {
      ...texts,
      description:
        'Variables of the environment of Handrail that its entry names. It was not started: it would be given them, which takes a person who names them in `variables`.',
    },
    packages: texts,
    data: { type: 'string', description: 'Where its program keeps its data.' },
    wantsLogin: { type: 'boolean' },
    fault: { type: 'string' },
    remedy: { type: 'string' },
    log: { type: 'string' },
    notes: texts,
  },
  required: [
    'name',
    'entry',
    'works',
    'tools',
    'added',
    'hosts',
    'folders',
    'variables',
    'unset',
    'own',
    'packages',
    'wantsLogin',
    'notes',
  ],
} as const

export type TrialRow = FromSchema<typeof trialRow>

/** A change of the file of servers that was looked at, or made. */
export const plannedRow = {
  type: 'object',
  properties: {
    diff: { type: 'string' },
    digest: { type: 'string', description: 'Of the file as it was looked at.' },
  },
  required: ['diff', 'digest'],
} as const

export type PlannedRow = FromSchema<typeof plannedRow>

/** A program with servers of its own. */
export const clientRow = {
  type: 'object',
  properties: {
    client: { type: 'string' },
    title: { type: 'string' },
    path: { type: 'string' },
    servers: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          isHere: { type: 'boolean' },
          entry: { type: 'object', description: 'Absent if it cannot be taken over. No secret is in it.' },
          notes: texts,
        },
        required: ['name', 'isHere', 'notes'],
      },
    },
    fault: { type: 'string' },
  },
  required: ['client', 'title', 'path', 'servers'],
} as const

export type ClientRow = FromSchema<typeof clientRow>

/** A server that a registry knows. */
export const registryRow = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    version: { type: 'string' },
    entry: { type: 'object', description: 'Absent if it comes in no form that can be used here.' },
    notes: texts,
  },
  required: ['name', 'title', 'description', 'version', 'notes'],
} as const

export type RegistryRow = FromSchema<typeof registryRow>
