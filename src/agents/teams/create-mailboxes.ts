import type { Document, DocumentChange } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import type { Name } from '../tasks/draft.ts'
import {
  cursorName,
  memberName,
  membershipGroup,
  messageGroup,
  messageName,
  readStored,
  teamName,
  toStored,
  type StoredMember,
  type StoredMembership,
  type StoredMessage,
  type StoredTeam,
} from './names.ts'

/** Messages, and characters of theirs, that are read at a time; the others are read a turn later. */
const mostAtOnce = 50
const mostCharacters = 60_000

/** A message that an agent reads. */
export interface ReadMessage extends StoredMessage {
  /** Name of the team. */
  readonly team: string
}

/** Messages, and what is to be written so that they are not read again. */
export interface UnreadMessages {
  readonly messages: readonly ReadMessage[]
  readonly changes: readonly DocumentChange[]
}

/** Which session of which tenant. */
export interface Reader {
  readonly tenant: string
  readonly session: string
}

/** What agents read of the messages to them. */
export interface Mailboxes {
  unread(reader: Reader): UnreadMessages
  /** What is to be written as an agent ends for good. It fails with `document_changed` if a message came meanwhile. */
  ending(reader: Reader, endReason: string): readonly DocumentChange[]
}

interface Box {
  readonly id: string
  readonly team: string
  readonly name: string
  readonly read: number
}

export function createMailboxes(store: Pick<Store, 'documents'>): Mailboxes {
  const find = ({ tenant }: Reader, name: Name): Document | undefined =>
    store.documents({ tenant, ...name })[0]
  const boxesOf = (reader: Reader): Box[] =>
    store
      .documents({ tenant: reader.tenant, kind: 'team', group: membershipGroup(reader.session) })
      .flatMap(({ id, value }) => {
        const membership = readStored<StoredMembership>(value)
        if (membership === undefined) return []
        const { lead, name } = membership
        const team = readStored<StoredTeam>(find(reader, teamName(lead, id))?.value)?.name ?? id
        return [{ id, team, name, read: Number(find(reader, cursorName(id, name))?.value ?? 0) }]
      })
  return {
    unread(reader) {
      const { tenant } = reader
      const messages: ReadMessage[] = []
      const changes: DocumentChange[] = []
      let characters = 0
      for (const { id, team, name, read } of boxesOf(reader)) {
        const group = messageGroup(id, name)
        const limit = mostAtOnce - messages.length
        if (limit <= 0) break
        const after = { group, id: messageName(id, name, read).id }
        let taken = 0
        for (const { value } of store.documents({ tenant, kind: 'message', group, after, limit })) {
          const message = readStored<StoredMessage>(value)
          if (message === undefined) continue
          if (messages.length > 0 && characters + message.text.length > mostCharacters) break
          characters += message.text.length
          messages.push({ ...message, team })
          taken += 1
        }
        if (taken > 0)
          changes.push({
            tenant,
            ...cursorName(id, name),
            value: read + taken,
            was: read === 0 ? null : read,
          })
      }
      return { messages, changes }
    },
    ending: (reader, endReason) =>
      boxesOf(reader).flatMap(({ id, name }) => {
        const found = find(reader, memberName(id, name))
        const member = readStored<StoredMember>(found?.value)
        if (found === undefined || member === undefined) return []
        const value = toStored({ ...member, ended: endReason })
        return [{ tenant: reader.tenant, ...memberName(id, name), value, was: found.value }]
      }),
  }
}
