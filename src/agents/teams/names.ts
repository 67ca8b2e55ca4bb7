import type { Json } from '../../contract/base/json.ts'
import type { Name } from '../tasks/draft.ts'

/*
 * Where what lies. A team is one document among those of its lead. Its members are documents that senders change, each with a cursor beside it that
 * only its agent changes. An agent finds its teams by its session. No id has a space.
 */

/** A team. */
export interface StoredTeam {
  readonly name: string
  readonly task?: string
  readonly deleted: boolean
}

/** A member of a team, and how many messages it was sent. */
export interface StoredMember {
  /** Null until an agent starts under its name. */
  readonly agent: string | null
  readonly count: number
  /** How its run ended for good; null until then. */
  readonly ended: string | null
  /** Whether an agent runs for it that reads messages. */
  readonly reads: boolean
}

/** That a session is a member of a team. */
export interface StoredMembership {
  readonly lead: string
  readonly name: string
}

/** A message as it is kept. */
export interface StoredMessage {
  readonly from: string
  readonly agent: string
  readonly text: string
}

/** The teams of a lead. */
export function ledGroup(lead: string): string {
  return `led ${lead}`
}

export function teamName(lead: string, team: string): Name {
  return { kind: 'team', group: ledGroup(lead), id: team }
}

/** The members of a team. */
export function memberGroup(team: string): string {
  return `in ${team}`
}

export function memberName(team: string, name: string): Name {
  return { kind: 'team', group: memberGroup(team), id: name }
}

/** How many of its messages a member has read. */
export function cursorName(team: string, name: string): Name {
  return { kind: 'team', group: `read ${team}`, id: name }
}

/** The teams that a session is a member of. */
export function membershipGroup(session: string): string {
  return `of ${session}`
}

export function membershipName(session: string, team: string): Name {
  return { kind: 'team', group: membershipGroup(session), id: team }
}

/** What came of a call, so that one that is made again does nothing. */
export function doneName(session: string, call: string): Name {
  return { kind: 'team', group: `done ${session}`, id: call }
}

/** The messages to a member, in the order in which they were sent. */
export function messageGroup(team: string, name: string): string {
  return `${team} ${name}`
}

export function messageName(team: string, name: string, number: number): Name {
  return { kind: 'message', group: messageGroup(team, name), id: String(number).padStart(9, '0') }
}

/** What was kept. Only this room writes such documents, and the store lets none through that others wrote. */
export function readStored<Value>(value: Json | undefined): Value | undefined {
  return (value ?? undefined) as Value | undefined
}

export function toStored(value: StoredTeam | StoredMember | StoredMembership | StoredMessage): Json {
  return { ...value }
}
